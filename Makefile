# The short way to everything. `make demo` is the place to start.

BUILD ?= build
CONFIGURE = cmake -G Ninja -S . -B $(BUILD) -DCMAKE_C_COMPILER=clang-22 \
            -DCMAKE_CXX_COMPILER=clang++-22
QUIRE = $(BUILD)/tools/quire
ENGINE = $(BUILD)/tiny-engine
MODELS = smollm2 gemma3-270m qwen2.5-coder-1.5b

.PHONY: demo test test-models build setup models clean

demo: build
	@echo "== compiling the bundled model to $(ENGINE)"
	@$(QUIRE) compile models/tiny -o $(ENGINE) --force
	@echo "== a story"
	@$(QUIRE) run $(ENGINE) -p "Once upon a time" -n 200 --temperature 0.7 \
	   --seed 1 --stats
	@echo
	@echo "== try next"
	@echo "  $(QUIRE) chat $(ENGINE)"
	@echo "  $(QUIRE) inspect $(ENGINE) --memory"
	@echo "  $(QUIRE) run \$$(tools/fetch-model smollm2) --chat -p 'What is a compiler?'"

setup:
	@tools/setup.sh

build: setup
	@test -f $(BUILD)/build.ninja || $(CONFIGURE) > /dev/null
	@ninja -C $(BUILD) $(NINJAFLAGS)

# Everything that needs no download.
test: build
	@ctest --test-dir $(BUILD) --output-on-failure -LE models

models: setup
	@for name in $(MODELS); do tools/fetch-model $$name || exit 1; done

# Everything that needs the real models, which are fetched first.
test-models: build models
	@ctest --test-dir $(BUILD) --output-on-failure -L models

clean:
	rm -rf $(BUILD)
