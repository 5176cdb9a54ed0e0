"""Records template_cases.json: small templates and what Jinja2 makes of them.

    record_cases.py            (needs jinja2; rewrites the file beside it)

Each template shows one construct. Add one by adding a line and running this.
"""

import json
import os

from render_reference import make_environment, render

MESSAGES = [
    {"role": "system", "content": " Be <b>brief</b> & kind. "},
    {"role": "user", "content": "Hé \"llo\" it's"},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1, "é": [1.5, True]}}}]},
    {"role": "tool", "content": ["a", {"type": "text", "text": "b"}]},
]

TEMPLATES = [
    # White space.
    "a\n{% if true %}\n  b\n{% endif %}\nc\n",
    "  {% if true %}  \n x {% endif %}\n",
    "a  \n {%- if true -%} \n b {%- endif -%} \n c",
    "a\n   {%+ if true +%}\n b{% endif %}",
    "a {{- 1 -}} b {{+ 2 }} c",
    "x\n  {# note #}\n  y {#- n -#} z\n",
    "  {{ 1 }}\n",
    "a\r\nb\rc\n\n",
    "{% raw %}{{ x }}{% if %}{% endraw %}\n|",
    "  {%- raw -%}  {{ a }}  {%- endraw -%}  b",
    # Literals and printing.
    "{{ 1 }} {{ -2 }} {{ 1.0 }} {{ 1e20 }} {{ 1.5e-7 }} {{ 0.1 + 0.2 }} {{ 100000000000000.0 }} {{ 1e16 }} {{ 1_000 }}",
    "{{ true }} {{ False }} {{ none }} {{ [1, 'a', none, true, 2.0] }} {{ (1,) }} {{ (1, 2) }} {{ () }} {{ {'a': 1, 2: 'b'} }}",
    "{{ 'it\\'s' }} {{ [\"it's\"] }} {{ ['a\"b'] }} {{ ['\\n\\t\\\\', 'é', '\\x00\\u200b'] }}",
    "{{ 'a' 'b' }} {{ \"\\u00e9\\x41\\101\\q\" }}",
    "{{ {}.items() }} {{ {'a': 1}.keys() }} {{ {'a': 1}.values() }}",
    "[{{ nothing }}] [{{ messages.nothing }}] [{{ 1 if false }}]",
    # Operators.
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }}",
    "{{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 'a' * 3 }} {{ [0] * 2 + [1] }} {{ -3|abs }}",
    "{{ 1 ~ 'a' ~ none ~ 2.5 ~ nothing }} {{ 'a' + 'b' ~ 'c' }}",
    "{{ 1 < 2 <= 2 }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ true == 1 }} {{ 3 > 2 > 2 }} {{ none == nothing }}",
    "{{ 'a' in 'abc' }} {{ 1 not in [1] }} {{ 'k' in {'k': 1} }} {{ 'x' in nothing }} {{ not 1 in [2] }}",
    "{{ 0 or 'x' }} {{ '' and 1 }} {{ not '' }} {{ 1 and 2 or 3 }} {{ [] or {} or none or 0.0 or 'end' }}",
    "{{ 'a' if 1 else 'b' }} {{ 'a' if 0 else 'b' if 0 else 'c' }}",
    "{{ '%s-%d-%05.1f-%r-%%' % ('a', 3, 2.25, 'q') }} {{ '%s' % none }} {{ '%x' % 255 }}",
    "{{ messages[0].role }} {{ messages[-1]['role'] }} {{ messages[9] is defined }} {{ 'héllo'[1] }} {{ 'abc'[-1] }} {{ (1, 2).1 }}",
    "{{ 'héllo'[1:3] }} {{ 'hello'[::-1] }} {{ [1, 2, 3, 4][::2] }} {{ [1, 2, 3][-2:] }} {{ [1, 2, 3][:-1] }} {{ 'abc'[5:] }}|{{ [1, 2, 3][2:0:-1] }}",
    # Statements.
    "{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}",
    "{% for m in messages %}{{ loop.index }}/{{ loop.length }} {{ m.role }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for x in 'abc' %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ x }}{% endfor %}",
    "{% for x in [1, 2, 3] %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
    "{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1, 2, 3, 4] if x % 2 == 0 %}{{ loop.index }}:{{ x }} {% else %}none{% endfor %}",
    "{% for x in [] %}{{ x }}{% else %}empty{% endfor %}{% for x in nothing %}{% else %}too{% endfor %}",
    "{% for k, v in {'a': 1, 'b': [2]}.items() %}{{ k }}={{ v }};{% endfor %}{% for a, (b, c) in [[1, [2, 3]]] %}{{ a + b + c }}{% endfor %}",
    "{% for x in range(6) %}{% if x == 1 %}{% continue %}{% elif x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in [1, [2, [3]]] recursive %}{{ loop.depth }}{% if x is number %}{{ x }}{% else %}({{ loop(x) }}){% endif %}{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1, y='a') %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{{ ns.y }}{{ ns.z is defined }}",
    "{% set a, b = 1, [2] %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}",
    "{% set x %}a{{ 1 }}{% set y = 2 %}{% endset %}[{{ x }}]{{ y is defined }}{% set z | upper | trim %} q {% endset %}[{{ z }}]",
    "{% if true %}{% set x = 5 %}{% endif %}{{ x }}",
    "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }}",
    "{% filter upper | replace('A', 'b') %}a{{ 'c' }}{% endfilter %}",
    "{% generation %}{% set q = 1 %}hi{% endgeneration %}{{ q is defined }}",
    "{% print 1 %}",
    # Macros.
    "{% macro f(a, b=a ~ '!', c='d') %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ f(1) }}{{ f(1, c=2) }}{{ f(b=1, a=0) }}",
    "{% macro f(a) %}{{ a is defined }}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f() }}{{ f(1, 2, 3, k='v') }}",
    "{% macro f() %}[{{ caller('x') }}]{% endmacro %}{% call(q) f() %}{{ q }}{{ later }}{% endcall %}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro f() %}{{ x }}{% endmacro %}{% set x = 3 %}{{ f() }}{% for x in [9] %}{{ f() }}{% endfor %}{{ f.name }}",
    # Filters.
    "{{ messages[2].tool_calls[0].function.arguments | tojson }} {{ '<é>&\\'\"\\n\\x01' | tojson }} {{ [] | tojson(indent=2) }}",
    "{{ {'b': [1, {'c': none}], 'a': 1.0} | tojson(indent=2) }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}",
    "{{ {'a': [1, 2]} | tojson(separators=(',', ':')) }} {{ 'é😀' | tojson(ensure_ascii=true) }} {{ {1: true, none: 2.5} | tojson }}",
    "{{ ' a ' | trim }}|{{ 'xax' | trim('x') }}|{{ 'abc' | upper | lower | title }} {{ 'hello wORLD-foo' | title }} {{ 'aBC' | capitalize }}",
    "{{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A'] | sort(case_sensitive=true, reverse=true) }} {{ messages | sort(attribute='role') | map(attribute='role') | list }}",
    "{{ {'b': 1, 'A': 2} | dictsort }} {{ {'b': 1, 'a': 2} | dictsort(by='value', reverse=true) }} {{ {'a': 1} | items | list }}",
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }} {{ messages | rejectattr('content') | list | length }}",
    "{{ [1, 2, 3, 4] | select('even') | list }} {{ [0, 1] | select | list }} {{ [1, 2] | reject('eq', 1) | list }} {{ ['a'] | map('upper') | join }}",
    "{{ [1, 2] | first }} {{ [1, 2] | last }} {{ [] | first }}| {{ 'abc' | first }} {{ [1, 'b'] | join('-') }} {{ [{'a': 1}, {'a': 2}] | join(',', attribute='a') }}",
    "{{ 'abc' | length }} {{ [1] | count }} {{ {'a': 1} | length }} {{ nothing | length }} {{ 'a b' | wordcount }}",
    "{{ nothing | default('x') }} {{ '' | default('y') }} {{ '' | d('z', true) }} {{ none | default('w', boolean=true) }}",
    "{{ '42' | int }} {{ '4.7' | int }} {{ 'x' | int(7) }} {{ 'ff' | int(base=16) }} {{ '2.5' | float }} {{ 3.7 | int }} {{ 'q' | float }}",
    "{{ 2.5 | round }} {{ 3.14159 | round(2) }} {{ 2.1 | round(method='ceil') }} {{ 3 | round }} {{ -1.5 | abs }}",
    "{{ [1, 2, 3] | sum }} {{ [1, 2] | max }} {{ [2, 1] | min }} {{ ['b', 'A'] | min }} {{ [{'a': 3}] | sum(attribute='a') }}",
    "{{ 'a\nb\n\nc' | indent }} {{ 'a\nb' | indent(2, true) }} {{ 'a\n\nb' | indent('> ', blank=true) }}",
    "{{ 'abc' | reverse }} {{ [1, 2] | reverse | list }} {{ ['a', 'A', 'b'] | unique | list }} {{ 'aXa' | replace('a', 'b', 1) }} {{ 'ab' | list }}",
    "{{ [1, 2, 3] | batch(2, 0) | list }} {{ [1, 2, 3] | slice(2) | list }} {{ 'x' | center(5) }}| {{ '%s!' | format('a') }}",
    "{{ '<a>' | e }} {{ '<a>' | safe }} {{ '<' + ('>' | safe) }} {{ '<' ~ ('>' | safe) }} {{ 5 | string + 'x' }}",
    "{{ 'a.b' | attr('upper') is callable }} {{ {'a': {'b': [7]}} | list }} {{ [{'a': {'b': [7]}}] | map(attribute='a.b.0') | list }}",
    # Tests.
    "{{ 1 is number }} {{ 'a' is string }} {{ {} is mapping }} {{ [] is sequence }} {{ 'a' is iterable }} {{ none is none }} {{ true is boolean }} {{ 1 is integer }} {{ 1.0 is float }} {{ true is integer }}",
    "{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 1 is eq 1 }} {{ 1 is in [1] }} {{ 'A' is upper }} {{ 'a' is lower }} {{ 1 is sameas 1 }} {{ 2 is gt 1 }} {{ 1 is not ne 1 }}",
    "{{ x is undefined }} {{ messages is defined and messages is not none }} {{ x is not defined }} {{ true is true }} {{ 1 is true }} {{ false is false }}",
    # Methods.
    "{{ ' a b '.strip() }} {{ 'xxa'.lstrip('x') }} {{ 'axx'.rstrip('x') }} {{ 'a,b,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b c'.rsplit(None, 1) }} {{ 'a.b.c'.rsplit('.', 1) }}",
    "{{ 'abc'.startswith('a') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'abc'.find('c') }} {{ 'abc'.index('b') }} {{ 'aaa'.count('a') }} {{ 'abab'.rfind('b') }} {{ 'aa'.replace('a', 'b', 1) }}",
    "{{ 'aB'.upper() }} {{ 'aB'.lower() }} {{ 'they\\'re x1y'.title() }} {{ 'aB'.capitalize() }} {{ 'aB'.swapcase() }} {{ ','.join(['a', 'b']) }} {{ 'straße é'.upper() }}",
    "{{ 'a1'.isalnum() }} {{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ ' '.isspace() }} {{ 'AB'.isupper() }} {{ '7'.zfill(3) }} {{ 'a'.ljust(3) }}| {{ 'a'.rjust(3, '.') }} {{ 'ab'.center(5, '*') }}",
    "{{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }} {{ 'a\nb\r\nc'.splitlines() }}",
    "{{ '{} {1} {x}'.replace('{1}', '{}').format(1, 'b', x=none) }} {{ '{0:>5}|{0:05.1f}|{1!r}|{2[k]}'.format(2.25, 'q', {'k': 1}) }} {{ '{:,}'.format(1234567) }}",
    "{{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {'a': 1}.get('b', 2) }} {{ {'items': 1}['items'] }} {{ [1, 1].count(1) }} {{ [1, 2].index(2) }}",
    # Globals.
    "{{ range(3) | list }} {{ range(1, 4) | list }} {{ range(4, 0, -2) | list }} {{ dict(a=1, b=2) }} {{ strftime_now('%d %b %Y %H:%M:%S %A %j') }}",
    # Errors.
    "{{ raise_exception('no ' ~ 1) }}",
    "{{ nothing.x }}",
    "{{ messages[0].nothing.x }}",
    "{{ messages[9].x }}",
    "{{ messages[0][7].x }}",
    "{{ none.x.y }}",
    "{{ nothing + 'a' }}",
    "{{ nothing() }}",
    "{{ 'a' + 1 }}",
    "{{ 'a' + none }}",
    "{{ 1 + 'a' }}",
    "{{ [1] + 'a' }}",
    "{{ none + 'a' }}",
    "{{ 1 < 'a' }}",
    "{{ 'a' >= 1 }}",
    "{{ 1 / 0 }}",
    "{{ 1 % 0 }}",
    "{{ none | length }}",
    "{{ 1 | list }}",
    "{% for x in none %}{% endfor %}",
    "{% for a, b in [[1]] %}{% endfor %}",
    "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{% for a, b in [1] %}{% endfor %}",
    "{{ 1 in 'a' }}",
    "{{ 'a' in none }}",
    "{{ nothing | tojson }}",
    "{{ [].append(1) }}",
    "{{ {}.update({}) }}",
    "{{ ''.__class__() }}",
    "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "{% set x = {} %}{% set x.y = 1 %}",
    "{% if true %}{{ 1 | frob }}{% endif %}",
    "{% if false %}{{ 1 | frob }}{% endif %}fine",
    "{{ (1 | frob) if false else 'fine' }}",
    "{{ 1 | frob }}",
    "{{ 1 is frob }}",
    "{% frob %}",
    "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}{% endmacro %}{{ f(b=2) }}",
    "{{ ''.join([1]) }}",
    "{{ 'a'.index('b') }}",
    "{{ range(1000000) }}",
    "{{ 1 | items | list }}",
]


def main():
    env = make_environment()
    inputs = {
        "messages": MESSAGES,
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
    cases = []
    for source in TEMPLATES:
        result = render(env, source, inputs)
        expected = result.get("text")
        if expected is None:
            expected = ("load error: " if result["at"] == "load" else "error: ") + result["error"]
        cases.append({"template": source, "expected": expected})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "template_cases.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"inputs": inputs, "cases": cases}, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
