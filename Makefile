# SPDX-License-Identifier: MIT
#
# heapinject - one flat Makefile. `make help` lists the targets. Sources are found by wildcard, so a
# new file needs no line here.
#
# There are four parts. injector/, analyzer/, and cmd/, which runs the two, are ordinary host code
# and become one program. payload/ is a freestanding shared object that runs inside other people's
# processes, is never instrumented, and is embedded into the program by
# injector/hooks/payload_blob.S. Each directory is an include root for the part it belongs to, and
# include/ is what they share.

##
## Variables:
##   O=build              build directory
##   CC=gcc               or clang
##   ARCH=x86_64          CPU directory under */arch/; another than that of this machine is
##                        cross-compiled, with the libraries in SYSROOT
##   SYSROOT=             what scripts/sysroot has unpacked, by default $(O)/sysroot
##   SAN=address,undefined  sanitizers for host code (never for the payload)
##   STATIC=1             one static program, $(O)/static/heapinject, that runs on other
##                        distributions: all, install and the tests take that
##   FAULTS=1             compile the fault-injection seam into everything
##   WERROR=1             warnings are errors
##   V=1                  print whole commands; of integration tests, also what passing ones say
##   CFLAGS=  LDFLAGS=    added to ours
##   T=name               run only tests whose name matches this: a part of it, or an extended
##                        regular expression (T='growth|leaks')
##   FUZZ_TIME=60         seconds for each fuzzer of `make fuzz`
##   N=50                 attach/detach cycles for `make torture`, for each target and loader;
##                        T=regex chooses targets
##   HOOK=                where `make torture` hooks them: auto, entry, slot, or several, as
##                        auto,slot; auto where nothing is said
##   BASE=HEAD            the revision whose program `make same-reports` compares with
##   SEEDS=100            sessions at each rate for `make truth`
##   GAP=                 more options of tests/torture/gap: --targets, --peer-cycles, --loader
##   BENCH=               more options of tests/bench/run: --only w1_1t,redis --rounds 5, --quick,
##                        ...
##   PPROF_EQUAL=         more options of tests/pprof/run: --only REGEX --combinations N --all
##   LEAKS=               more options of tests/leaks/run: --only REGEX --jobs 4 --repeat 3, ...;
##                        of tests/leaks/servers: --only REGEX --seconds 60 --keep DIR
##   ALLOCATORS=          more options of tests/allocators/run: --only REGEX --cycles 200
##                        --kills 200 --jobs 2, ...
##                        of tests/allocators/servers: --only REGEX --cycles 200 --kills 100 ...
##   HEAPS=               more options of tests/heaps/run: --only 'jemalloc storm' --seed N ...
##                        of tests/heaps/clean: --only REGEX
##   FOREIGN_ROOTS=       more options of tests/foreign_roots/run: --only REGEX
##                        --roots bullseye,musl
##   CONTAINERS=          more options of tests/containers/run: --only REGEX
##   BROWSERS=            more options of tests/browsers/run: --only REGEX --seconds 5
##   TORTURE=             more options of tests/torture/run: --events REGEX, --time-limit SECONDS,
##                        --resume, ...
##   LONG_HOUR=  LONG_DAY=  more options of tests/long/hour: --seconds 360 ..., and of
##                        tests/long/day: --hours 24 --speed 100 ...
##   PREFIX=/usr/local  DESTDIR=

ARCH ?= x86_64
# Of another CPU than this machine's: the compiler's prefix, and where its libraries are.
machine := $(shell uname -m)
ifneq ($(ARCH),$(machine))
O ?= build-$(ARCH)
CROSS ?= $(ARCH)-linux-gnu-
SYSROOT ?= $(abspath $(O)/sysroot)
SYSROOT_FLAGS := --sysroot=$(SYSROOT)
sysroot_pkgconfig := $(SYSROOT)/usr/lib/$(ARCH)-linux-gnu/pkgconfig
PKG_CONFIG ?= PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(sysroot_pkgconfig):$(SYSROOT)/usr/share/pkgconfig pkg-config
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
endif
O ?= build
PREFIX ?= /usr/local
# where zsh looks for completions, below PREFIX/share/zsh; Debian's packages: vendor-completions
ZSH_FUNCTIONS ?= site-functions
N ?= 50
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
PKG_CONFIG ?= pkg-config
CLANG_FORMAT ?= clang-format

ifeq ($(V),1)
Q :=
say := @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

# ---- flags ---------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wundef -Wcast-align -Wwrite-strings -Wvla -Wformat=2
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif
BASE_FLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -MMD -MP $(SYSROOT_FLAGS)

PACKAGES := libelf libdw liblzma libunwind-ptrace zlib libzstd libseccomp
ifneq ($(filter-out help clean format format-check,$(or $(MAKECMDGOALS),all)),)
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) | sed 's/-I/-isystem /g')
PACKAGE_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES))
ifeq ($(PACKAGE_LIBS),)
$(error development packages are missing; run ./scripts/$(if $(CROSS),sysroot \
	$(SYSROOT),install-packages))
endif
endif

HOST_FLAGS := $(BASE_FLAGS) -fstack-protector-strong $(PACKAGE_CFLAGS)
HOST_LDFLAGS := $(SYSROOT_FLAGS)
ifneq ($(SAN),)
HOST_FLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
HOST_LDFLAGS += -fsanitize=$(SAN)
# A report of a sanitizer needs lines and no more. Optimized further, gcc would take twice as long.
ifeq ($(findstring clang,$(CC)),)
HOST_FLAGS += -O1 -g1
endif
endif
ifeq ($(FAULTS),1)
HOST_FLAGS += -DHI_FAULTS
endif
# libdeflate, libmicrohttpd, ncurses, and libedit with what it needs, are linked in: few servers
# have them, and a program that is copied to one has to run there. Of libsupc++ one object is linked
# in. What libmicrohttpd wants of GnuTLS is in cmd/serve/no_tls.c, which has to be taken first.
LINKED_IN := -l:libdeflate.a -l:libmicrohttpd.a -Wl,-u,gnutls_init -l:libsupc++.a -l:libedit.a \
	-l:libncursesw.a -l:libtinfo.a -l:libbsd.a -l:libmd.a -lpthread -ldl -lm
LIBS := $(PACKAGE_LIBS) $(LINKED_IN)
# The linker warns of what a static program would have to load from the machine that it runs on.
# Debian's libunwind.a has no position-independent code. With another one this may be -static-pie.
STATIC_LINK ?= -static
static_libs = $(shell $(PKG_CONFIG) --static --libs $(PACKAGES) capstone) $(LINKED_IN)

# The rooms: directories that hold sources, each named once.
rooms_of = $(sort $(patsubst %/,%,$(dir $(wildcard $(1)))))
roots = $(addprefix -I,$(1))
include_roots := $(call roots,include include/arch/$(ARCH))
# Flags that only some CPUs have: ARCH_INJECTOR_FLAGS, ARCH_PAYLOAD_FLAGS.
include $(addsuffix /arch/$(ARCH)/flags.mk,injector payload)
injector_rooms := injector/arch injector/arch/$(ARCH) $(call rooms_of,injector/*/*.c)
cmd_rooms := $(call rooms_of,cmd/*.c cmd/*/*.c)
analyzer_rooms := $(call rooms_of,analyzer/*.c analyzer/*/*.c)

INJECTOR_FLAGS := $(HOST_FLAGS) $(ARCH_INJECTOR_FLAGS) $(include_roots) \
	$(call roots,$(injector_rooms))
CMD_FLAGS := $(INJECTOR_FLAGS) $(call roots,$(cmd_rooms))
ANALYZER_FLAGS := $(HOST_FLAGS) $(include_roots) $(call roots,$(analyzer_rooms))
TEST_FLAGS := $(HOST_FLAGS) -Itests/unit -Itests/unit/arch/$(ARCH) $(include_roots) \
	$(call roots,$(injector_rooms) $(cmd_rooms) $(analyzer_rooms))
PAYLOAD_TEST_FLAGS := $(HOST_FLAGS) -Itests/unit -Itests/unit/arch/$(ARCH) $(include_roots) \
	-Ipayload -Ipayload/arch -Ipayload/arch/$(ARCH)

# The payload may use no libc, no TLS, no vector registers (see flags.mk). Its unwind tables serve
# code that takes a stack in an allocator that the payload has called; such code finds them if the
# payload came by dlopen. gcc turns copy loops into memcpy calls unless an option forbids it; clang
# does not know that option.
ifeq ($(findstring clang,$(CC)),)
NO_LIBCALLS := -fno-tree-loop-distribute-patterns
endif
PAYLOAD_FLAGS := $(BASE_FLAGS) -fPIC -ffreestanding -nostdlib -fno-builtin $(NO_LIBCALLS) \
	-fvisibility=hidden -fno-stack-protector -fasynchronous-unwind-tables \
	$(ARCH_PAYLOAD_FLAGS) $(include_roots) -Ipayload -Ipayload/arch -Ipayload/arch/$(ARCH)
PAYLOAD_LDFLAGS := -shared -nostdlib -Wl,--version-script=payload/exports.map \
	-Wl,--build-id=none -Wl,-z,noseparate-code -Wl,--hash-style=both -Wl,-z,norelro \
	-Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,--no-undefined -Wl,--eh-frame-hdr
# What a compiler knows of malloc would let it leave calls out.
PLAYER_FLAGS := $(BASE_FLAGS) -fPIE -fno-builtin $(include_roots)
PROBES_LDFLAGS := -shared -nostdlib -Wl,--build-id=sha1 -Wl,-z,noseparate-code \
	-Wl,-z,max-page-size=4096 -Wl,--hash-style=gnu -Wl,-z,noexecstack -Wl,--eh-frame-hdr

# ---- sources -------------------------------------------------------------------------------------

injector_sources := $(sort $(wildcard injector/*/*.[cS] injector/arch/$(ARCH)/*.[cS]))
cmd_sources := $(sort $(wildcard cmd/*.c cmd/*/*.[cS]))
all_analyzer_sources := $(sort $(wildcard analyzer/*.c analyzer/*/*.[cS]))
# What the static program has in the place of a source without _static.
static_sources := $(filter %_static.c,$(all_analyzer_sources))
analyzer_sources := $(filter-out $(static_sources),$(all_analyzer_sources))
payload_sources := $(sort $(wildcard payload/*.c payload/arch/$(ARCH)/*.[cS]))
# A program of its own, which is run with other allocators.
player_sources := $(sort $(wildcard cmd/trial/player/*.c))
# An object of its own, which the target maps from a file.
probe_sources := $(sort $(wildcard payload/arch/$(ARCH)/probes/*.S))
# Tests of one CPU are in directories of its name. Those that are made of the instructions of
# another, and are not written for this one yet, are in a list.
unit_left_out := $(shell sed '/^\#/d' tests/unit/arch/$(ARCH)/left_out 2>/dev/null)
unit_sources := $(filter-out $(unit_left_out:%=tests/unit/%.c),$(sort $(wildcard $(addprefix \
	tests/unit/,*/*_test.c */*/*_test.c */*/$(ARCH)/*_test.c))))

objects_of = $(addsuffix .o,$(addprefix $(O)/,$(basename $(1))))
injector_objects := $(call objects_of,$(injector_sources))
cmd_objects := $(call objects_of,$(cmd_sources))
analyzer_objects := $(call objects_of,$(analyzer_sources))
static_objects := $(call objects_of,$(static_sources))
payload_objects := $(call objects_of,$(payload_sources))
probe_objects := $(call objects_of,$(probe_sources))
player_objects := $(call objects_of,$(player_sources))
# The payload once more as host code, so that its unit tests can call it.
guest_objects := $(addprefix $(O)/hosted/,$(addsuffix .o,$(basename $(payload_sources))))

# The modules with the fault-injection seam are built once more, with the seam. A header may not
# include fault.h: all that include this header would have to be compiled again as well.
fault_sources := $(sort $(shell grep -l '^\#include "fault\.h"' $(injector_sources)))
fault_objects := $(fault_sources:%.c=$(O)/faults/%.o)
seamless_objects := $(filter-out $(fault_sources:%.c=$(O)/%.o),$(injector_objects))
ifneq ($(shell grep -l '^\#include "fault\.h"' $(wildcard */*/*.h) $(cmd_sources)),)
$(error fault.h is for the sources in injector/ alone)
endif

main_object := $(O)/cmd/main.o
cmd_library := $(O)/libcmd.a
injector_library := $(O)/libinjector.a
analyzer_library := $(O)/libanalyzer.a
guest_library := $(O)/libpayload.a

# tests/unit/ has the same rooms; what a test links goes by the part it is in.
unit_names := $(patsubst tests/unit/%.c,%,$(unit_sources))
payload_tests := $(filter payload/%,$(unit_names))
host_tests := $(filter-out $(payload_tests),$(unit_names))

static_program := $(O)/static/heapinject
# the analyzer of a session of many hours: tests/long/
feeder := $(O)/long/feed
# sums of heaps that are walked from outside: tests/integration/heaps_outside/
walker := $(O)/heaps/walk
program := $(if $(filter 1,$(STATIC)),$(static_program),$(O)/heapinject)
FAULTS_BIN := $(O)/$(if $(filter 1,$(FAULTS)),,faults/)heapinject

# ---- what is built -------------------------------------------------------------------------------

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all check check-unit check-integration models unit-tests lint torture check-torture truth \
	gap same-reports allocators allocators-servers heaps leaks-clean foreign-roots browsers \
	page-firefox package readers guard-kills long-session page-axe serve-scrape \
	serve-connections fleet-files fleet-containers containers fleet-cost leaks leaks-servers \
	pprof-equal bench bench-report bench-looks check-bench fuzz build-fuzzers fuzzers demo \
	install uninstall clean help format format-check FORCE

all: $(program) ## build $(O)/heapinject, or $(O)/static/heapinject

$(O)/heapinject: $(main_object) $(cmd_library) $(injector_library) $(analyzer_library)
	$(say) LD $@
	$(Q)$(CC) $(HOST_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The objects come before the libraries, so that those in whose place they are are not taken.
$(static_program): $(main_object) $(static_objects) $(cmd_library) $(injector_library) \
		$(analyzer_library)
	$(if $(SAN),$(error no sanitizer goes with STATIC=1))
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(STATIC_LINK) -Wl,--fatal-warnings $(HOST_LDFLAGS) $(LDFLAGS) -o $@ $^ \
		$(static_libs)

# This is the same program with the seam through which tests make each single operation fail, or
# kill it there. With FAULTS=1 there is no other.
$(O)/faults/heapinject: $(cmd_objects) $(seamless_objects) $(fault_objects) $(analyzer_library)
	$(say) LD $@
	$(Q)$(CC) $(HOST_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(cmd_library): $(filter-out $(main_object),$(cmd_objects))
$(injector_library): $(injector_objects)
$(analyzer_library): $(analyzer_objects)
$(guest_library): $(guest_objects)
%.a:
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/payload.so: $(payload_objects) payload/exports.map
	$(say) LD $@
	$(Q)$(CC) $(PAYLOAD_LDFLAGS) -o $@ $(payload_objects)

# The probes are mapped by their first page alone, so all that a thread runs has to be there.
$(O)/probes.so: $(probe_objects)
	$(say) LD $@
	$(Q)$(CC) $(PROBES_LDFLAGS) -o $@ $^

# Its symbols are for the allocator that is loaded into it.
$(O)/player: $(player_objects)
	$(say) LD $@
	$(Q)$(CC) $(SYSROOT_FLAGS) -pie -rdynamic -o $@ $^ -lpthread -ldl

$(player_objects): flags = $(PLAYER_FLAGS)
$(player_objects): user_flags =
$(injector_objects): flags = $(INJECTOR_FLAGS)
$(cmd_objects): flags = $(CMD_FLAGS)
$(fault_objects): flags = $(INJECTOR_FLAGS) -DHI_FAULTS
$(analyzer_objects) $(static_objects): flags = $(ANALYZER_FLAGS)
# Stack protectors, fortification and the like need a libc, so the payload has its own flags alone.
$(payload_objects) $(probe_objects): flags = $(PAYLOAD_FLAGS)
$(payload_objects) $(probe_objects): user_flags =
$(guest_objects): flags = $(PAYLOAD_TEST_FLAGS)
$(host_tests:%=$(O)/tests/unit/%.o): flags = $(TEST_FLAGS)
$(payload_tests:%=$(O)/tests/unit/%.o): flags = $(PAYLOAD_TEST_FLAGS)
# This test reads with the injector's reader what the payload has written.
$(O)/tests/unit/payload/payload_ring_test.o: flags += -Iinjector/stream -Iinjector/target

$(O)/injector/hooks/payload_blob.o: $(O)/payload.so
$(O)/injector/hooks/payload_blob.o: flags += -DPAYLOAD_SO='"$(O)/payload.so"'
$(O)/injector/arena/probes_blob.o: $(O)/probes.so
$(O)/injector/arena/probes_blob.o: flags += -DPROBES_SO='"$(O)/probes.so"'
$(O)/cmd/trial/player_blob.o: $(O)/player
$(O)/cmd/trial/player_blob.o: flags += -DPLAYER='"$(O)/player"'
$(O)/analyzer/views/html_page.o: $(wildcard analyzer/views/html/*)
$(O)/cmd/serve/live_sources.o: $(wildcard cmd/serve/page/*)

user_flags = $(CFLAGS)
define compile
	$(say) $(1) $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(flags) $(user_flags) -c -o $@ $<
endef
$(O)/%.o: %.c $(O)/flags
	$(call compile,CC)
$(fault_objects): $(O)/faults/%.o: %.c $(O)/flags
	$(call compile,CC)
$(O)/%.o: %.S $(O)/flags
	$(call compile,AS)
$(O)/hosted/%.o: %.c $(O)/flags
	$(call compile,CC)
$(O)/hosted/%.o: %.S $(O)/flags
	$(call compile,AS)

# Touched only when the compiler or the flags differ from those of the last build in this directory.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(INJECTOR_FLAGS) $(PAYLOAD_FLAGS) $(CFLAGS)' | cmp -s - $@ || \
	echo '$(CC) $(INJECTOR_FLAGS) $(PAYLOAD_FLAGS) $(CFLAGS)' >$@

-include $(patsubst %.o,%.d,$(injector_objects) $(cmd_objects) $(fault_objects) \
	$(analyzer_objects) $(static_objects) $(payload_objects) $(guest_objects) \
	$(player_objects) \
	$(unit_names:%=$(O)/tests/unit/%.o))

# ---- tests ---------------------------------------------------------------------------------------

unit-tests: $(unit_names:%=$(O)/unit/%) ## build the unit tests, and run none

$(unit_names:%=$(O)/unit/%): $(O)/unit/%: $(O)/tests/unit/%.o
$(patsubst %,$(O)/unit/%,$(filter injector/% cmd/%,$(unit_names))): \
	$(cmd_library) $(injector_library) $(analyzer_library)
$(patsubst %,$(O)/unit/%,$(filter analyzer/%,$(unit_names))): $(analyzer_library)
$(payload_tests:%=$(O)/unit/%): $(guest_library)
$(unit_names:%=$(O)/unit/%):
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

check: ## daily tests, two minutes on two CPUs; T=name: those that match it, slow ones too; \
       ## all: ./scripts/check
	@$(if $(T),,export DAILY=1;) status=0; \
	$(MAKE) --no-print-directory check-unit || status=1; \
	$(MAKE) --no-print-directory check-integration || status=1; \
	$(if $(T),,$(print_left_out);) \
	exit $$status

# What `make check` leaves out, by the marks that leave it out.
daily_cases = grep -vc '^\#' tests/integration/daily
all_cases = $(words $(wildcard tests/integration/*/run))
print_left_out = echo \
	"left out: $$(cat $(unit_sources) | grep -c '^UNIT_SLOW_TEST') slow unit cases" \
	"and the $$(($(all_cases) - $$($(daily_cases)))) integration cases that" \
	"tests/integration/daily does not list; ./scripts/check runs all, make check T=name one"

# A test that does not build counts as failed and stops no other.
check-unit: ## all unit tests
	@$(MAKE) --no-print-directory -k unit-tests || true
	@tests/unit/run '$(T)' $(unit_names:%=$(O)/unit/%)

models: ## the protocols between threads, every execution that C11 allows: no promise breaks, and \
	## without any of the barriers one does; half a minute
	@tests/model/run $(T)

# The environment in which tests find what was built, without and with the program that has the
# fault-injection seam.
built = O=$(O) HEAPINJECT=$(abspath $(program))
built_with_faults = $(built) HEAPINJECT_FAULTS_BIN=$(abspath $(FAULTS_BIN)) CC=$(CC)

check-integration: $(program) $(FAULTS_BIN) $(feeder) $(walker) ## all integration tests: real \
                                            ## programs, started on loopback
	@$(if $(SAN),,$(MAKE) --no-print-directory $(static_program) || true)
	@ARCH=$(ARCH) $(built_with_faults) \
	HEAPINJECT_STATIC_BIN=$(if $(SAN),,$(abspath $(static_program))) tests/run '$(T)'

# A payload that does not link is for scripts/lint to explain.
lint: ## layering, payload purity, format, shell scripts
	@$(MAKE) --no-print-directory -k $(O)/payload.so || true
	@status=0; \
	O=$(O) ARCH=$(ARCH) scripts/lint || status=1; \
	$(MAKE) --no-print-directory format-check || status=1; \
	exit $$status

torturers = $(built_with_faults) tests/torture/run --only '$(T)' $(if $(HOOK),--hook $(HOOK))

torture: $(program) $(FAULTS_BIN) ## every target, every event, N=50 times; \
                                  ## summary in $(O)/torture/summary.md
	@scripts/install-packages build test torture
	@$(torturers) --count $(N) $(TORTURE)

check-torture: $(program) $(FAULTS_BIN) ## a slice of that in less than three minutes
	@$(torturers) --slice $(TORTURE)

SEEDS ?= 100
truth: $(program) ## estimates against a program that knows the truth: \
                  ## SEEDS=100 sessions at each of two rates, one or two minutes
	@$(built) CC=$(CC) SEEDS=$(SEEDS) TIMEOUT=3600 V=1 tests/run truth_sites

# It wants a quiet machine: other load is in its figures.
gap_cycles = $(if $(filter file,$(origin N)),200,$(N))
gap: $(program) ## how long a program stands still at attach and detach, \
                ## beside heaptrack, N=200 times
	@$(built) CC=$(CC) tests/torture/gap --cycles $(gap_cycles) $(GAP)

BASE ?= HEAD
same-reports: $(O)/heapinject ## every view and file format, byte for byte \
                              ## as the program of BASE=HEAD makes them
	@O=$(O) CC=$(CC) tests/same_reports '$(BASE)'

allocators: $(program) ## every allocator, by every way to link it, in C, C++ and Rust: what \
		## a session says and leaves; five minutes
	@scripts/install-packages build allocators
	@$(built) CC=$(CC) tests/allocators/run $(ALLOCATORS)

package: ## the Debian package, looked at by lintian, installed, used and purged in a fresh \
	 ## Debian 12; as root; three minutes; for another CPU: used in an emulated system
ifeq ($(CROSS),)
	@scripts/install-packages build package
	@O=$(O) tests/package/run
else
	@O=$(O) tests/package/cross
	@O=$(O) CASES=package scripts/check-aarch64
endif

foreign-roots: $(static_program) ## the static program in other distributions: older and newer \
		## Debian, musl; as root; a minute and a half, once a minute more for each root
	@scripts/install-packages build roots
	@O=$(O) HEAPINJECT=$(abspath $<) tests/foreign_roots/run $(FOREIGN_ROOTS)

# Whether a session of a minute names the function that leaks, and no other. The programs are
# optimized as what people run is.
CXX ?= g++
leak_build := $(O)/leaks
leak_flags := -D_GNU_SOURCE -O2 -g -Wall -Wextra -pthread
leak_objects := $(addprefix $(leak_build)/,$(addsuffix .o,programs service leaky_calls \
	leaky_shapes leaky_parts healthy_tables healthy_times leaky healthy))

leaks: $(program) $(leak_build)/programs $(leak_build)/libcodec.so ## whether a minute names \
		## who leaks, over 70 programs, some 20 minutes; \
		## details in $(O)/leaks/details.json
	@$(built) tests/leaks/run $(LEAKS)

leaks-servers: $(program) ## the same of five real servers with leaking extensions: redis, \
		## PostgreSQL, Python, Java, nginx; seven minutes
	@scripts/install-packages build leaks
	@$(built) CC=$(CC) tests/leaks/servers $(LEAKS)

pprof-equal: $(program) ## files by the profilers of Go, tcmalloc, jemalloc and heaptrack, as \
		## go tool pprof and report show them; ten minutes
	@$(built) tests/pprof/run $(PPROF_EQUAL)

axe_version = 4.10.3
axe_sha256 = 0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292
axe = $(O)/axe/axe.min.js

browsers: $(program) ## sessions on every kind of process of Chromium and Firefox, and \
		## whether what is said of them holds; four minutes
	@scripts/install-packages build browsers
	@$(built) tests/browsers/run $(BROWSERS)

page-firefox: $(program) ## the checks of the HTML page in Firefox; half a minute
	@scripts/install-packages build test browsers
	@PAGE_BROWSER=firefox-esr V=1 $(MAKE) --no-print-directory check-integration \
		T='^page_html$$'

readers: $(program) ## what other tools make of our files: also Firefox Profiler and Grafana, and \
		## the pages of speedscope and dh_view in a browser; a minute and a half
	@scripts/install-packages build test browsers
	@READERS=1 V=1 $(MAKE) --no-print-directory check-integration T='^writes$$'

SPEEDS = 1 10 50 200 500 0
KILLS = 100
guard-kills: $(program) ## KILLS=100 processes that the kernel kills for their memory, as root, at \
		## SPEEDS='1 10 50 200 500 0' MB a second (0: one block): which profile \
		## was on disk before; ten minutes
	@$(built) CC=$(CC) KILLS=$(KILLS) SPEEDS='$(SPEEDS)' TIMEOUT=3600 V=1 tests/run '^guard$$'

long-session: $(program) $(feeder) ## sessions that last, at redis: an hour in miniature with all \
		## triggers, and a day of records at 100 times the speed: memory, time of a \
		## profile; twenty minutes
	@scripts/install-packages build test
	@status=0; \
	$(built) tests/long/hour $(LONG_HOUR) || status=1; \
	$(built) tests/long/day $(LONG_DAY) || status=1; \
	exit $$status

$(O)/tests/long/feed.o $(O)/tests/heaps/walk.o: flags = $(TEST_FLAGS)
$(feeder): $(O)/tests/long/feed.o
$(walker): $(O)/tests/heaps/walk.o
$(feeder) $(walker): $(cmd_library) $(injector_library) $(analyzer_library)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

-include $(O)/tests/long/feed.d $(O)/tests/heaps/walk.d

page-axe: $(program) $(axe) ## what axe-core finds on all tabs of the page, in light and dark, on \
		## a wide screen and a phone's; a minute
	@scripts/install-packages build test
	@PAGE_AXE=$(abspath $(axe)) V=1 $(MAKE) --no-print-directory check-integration \
		T='^page_html$$'

fleet-files: $(program) ## what contrib/ has for fleets, by the schemas of Kubernetes, and a \
		## request of --push by Parca's client, with packages of npm; half a minute
	@$(built) tests/fleet/run $(abspath $(O))/fleet

fleet-containers: $(O)/heapinject $(static_program) ## the DaemonSet, the ephemeral container \
		## and the plugin of contrib/ with containers of a containerd, as root; \
		## two minutes, the first time one more
	@scripts/install-packages build containers
	@command -v $(or $(KUBECTL),kubectl) >/dev/null || scripts/install-packages kubectl
	@$(MAKE) --no-print-directory install STATIC= PREFIX=/usr/local \
		DESTDIR=$(abspath $(O))/fleet-containers/out >/dev/null
	@O=$(O) HEAPINJECT=$(abspath $(O)/heapinject) \
	HEAPINJECT_STATIC_BIN=$(abspath $(static_program)) tests/fleet/containers

containers: $(O)/heapinject $(static_program) ## containers of podman, as root and rootless, \
		## profiled from the host, from beside and from inside; as root; three and a \
		## half minutes, the first time one more
	@scripts/install-packages build roots podman
	@O=$(O) HEAPINJECT=$(abspath $(O)/heapinject) \
	HEAPINJECT_STATIC_BIN=$(abspath $(static_program)) tests/containers/run $(CONTAINERS)

fleet-cost: $(program) ## what a session that pushes costs, and a thousand of them; eight minutes
	@scripts/install-packages build demo
	@HEAPINJECT=$(abspath $<) tests/fleet/cost $(FLEET_COST)

serve-scrape: $(program) ## a Prometheus that scrapes heapinject serve; ten seconds
	@scripts/install-packages build test scrape
	@V=1 $(MAKE) --no-print-directory check-integration T='^serve_prometheus$$'

serve-connections: $(program) ## ten thousand connections to heapinject serve that ask nothing; a \
		## minute
	@SERVE_CONNECTIONS=10000 V=1 $(MAKE) --no-print-directory check-integration \
		T='^serve_refused$$'

$(axe):
	@command -v npm >/dev/null || scripts/install-packages axe
	@mkdir -p $(@D)
	$(say) NPM axe-core $(axe_version)
	$(Q)cd $(@D) && npm pack --silent axe-core@$(axe_version) >/dev/null && \
		echo '$(axe_sha256)  axe-core-$(axe_version).tgz' | sha256sum -c --quiet && \
		tar -xzmf axe-core-$(axe_version).tgz --strip-components=1 package/axe.min.js

heaps: $(program) ## what explain says of every allocator, in programs of all shapes and in \
		## servers under load, beside what the allocator says inside; ten minutes
	@scripts/install-packages build heaps
	@$(built) CC=$(CC) tests/heaps/run $(HEAPS)

leaks-clean: $(program) ## whether leaks names blocks that are none, in eleven real servers \
		## under load; four minutes
	@scripts/install-packages build clean
	@$(built) tests/heaps/clean $(HEAPS)

allocators-servers: $(program) ## servers with jemalloc or tcmalloc linked in, also stripped: \
		## figures beside the truth and their allocator's own profile; half an hour
	@scripts/install-packages build allocators
	@$(built) tests/allocators/servers $(ALLOCATORS)

$(leak_build)/%.o: tests/leaks/%.c tests/leaks/programs.h
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 $(leak_flags) -c -o $@ $<

$(leak_build)/%.o: tests/leaks/%.cc tests/leaks/programs.h
	@mkdir -p $(@D)
	$(say) CXX $<
	$(Q)$(CXX) -std=c++17 $(leak_flags) -c -o $@ $<

$(leak_build)/programs: $(leak_objects)
	$(say) LD $@
	$(Q)$(CXX) -pthread -o $@ $^ -ldl

$(leak_build)/libcodec.so: tests/leaks/libcodec.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 $(leak_flags) -fPIC -shared -o $@ $<

# ---- benchmarks ----------------------------------------------------------------------------------
# Programs are built with -O2, without and with frame pointers, as stack walks differ by that. The
# big program is not optimized: it has more functions and is quicker built.

bench_build := $(O)/bench
bench_programs := $(addprefix $(bench_build)/,workload workload_fp workload_linked \
	workload_island memcached_load big)
BENCH_FLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -pthread
big_parts := $(foreach i,$(shell seq -w 0 18),$(bench_build)/big_parts/part_$(i))

bench: ## costs beside those of the peers, in about an hour on a quiet machine; \
       ## rewrites the figures in docs/benchmarks.md; a part: BENCH='--only w1', which only prints
	@scripts/install-packages build bench
	@$(MAKE) --no-print-directory $(program) $(bench_programs)
	@$(built) CC=$(CC) tests/bench/run --write docs/benchmarks.md $(BENCH)

bench-report: ## what a report costs beside jeprof and google-pprof, \
              ## from ten thousand to a million call paths; \
              ## rewrites its figures in docs/benchmarks.md
	@scripts/install-packages build bench
	@$(MAKE) --no-print-directory $(program) $(bench_build)/big
	@$(built) tests/bench/analyzers --write docs/benchmarks.md $(BENCH)

bench-looks: ## what explain, census and leaks cost, by the size of the heap, \
             ## in three minutes; rewrites its figures in docs/benchmarks.md
	@scripts/install-packages build bench
	@$(MAKE) --no-print-directory $(program) $(bench_build)/held
	@$(built) tests/bench/looks --write docs/benchmarks.md $(BENCH)

check-bench: $(program) $(filter-out %/big,$(bench_programs)) \
		## two minutes of that, to see that it runs; its figures say nothing
	@$(built) CC=$(CC) tests/bench/run --quick --without big $(BENCH)

$(bench_build)/workload $(bench_build)/memcached_load: $(bench_build)/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(BENCH_FLAGS) -fomit-frame-pointer -o $@ $< -lm

$(bench_build)/workload_fp: tests/bench/workload.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(BENCH_FLAGS) -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o $@ $< -lm

# An allocator linked in, alone in the process, and as a second one that the libraries do not see.
$(bench_build)/workload_island: own_only = -Wl,--exclude-libs,ALL
$(bench_build)/workload_linked $(bench_build)/workload_island: tests/bench/workload.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(BENCH_FLAGS) -fomit-frame-pointer -o $@ $< $(own_only) \
		-l:libjemalloc_pic.a -ldl -lm

$(big_parts:%=%.cc) $(bench_build)/big_parts/parts.cc &: tests/bench/generate_big.py
	@tests/bench/generate_big.py $(bench_build)/big_parts

$(bench_build)/big_parts/%.o: $(bench_build)/big_parts/%.cc tests/bench/big.h
	$(say) CXX $@
	$(Q)$(CXX) -std=c++17 -g -O0 -Itests/bench -c -o $@ $<

$(bench_build)/big: tests/bench/big_main.cc $(big_parts:%=%.o) $(bench_build)/big_parts/parts.o
	$(say) LD $@
	$(Q)$(CXX) -std=c++17 -g -O0 -Itests/bench -pthread -o $@ $^

$(bench_build)/held: tests/bench/held.cc
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -g -O1 -o $@ $<

# ---- demo ----------------------------------------------------------------------------------------

demo: ## profile a growing redis-server for ten seconds
	@scripts/demo

# ---- fuzzing -------------------------------------------------------------------------------------

fuzz_names := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/*_fuzz.c)))
FUZZ_SAN := fuzzer-no-link,address,undefined
FUZZ_TIME ?= 60

# Fuzzers have a build directory of their own, as everything is instrumented: $(O)/fuzz/NAME_fuzz.
fuzz: build-fuzzers ## each parser's fuzzer for FUZZ_TIME=60 seconds, or those matching T=name; \
                    ## corpora grow in $(O)/fuzz/corpus
	@tests/fuzz/run '$(O)/fuzz' '$(FUZZ_TIME)' '$(T)'

build-fuzzers:
	@$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang SAN=$(FUZZ_SAN) fuzzers

fuzzers: $(fuzz_names:%=$(O)/%) $(O)/heap_victim $(O)/heap_victim_musl

# What the readers of heaps are fuzzed on: nothing of ours is in it, nor of a sanitizer.
$(O)/heap_victim: tests/fuzz/heap_victim.c
	$(say) LD $@
	$(Q)$(CC) -O1 -pthread -o $@ $<
$(O)/heap_victim_musl: tests/fuzz/heap_victim.c
	$(say) LD $@
	$(Q)musl-gcc -O1 -pthread -o $@ $<

$(fuzz_names:%=$(O)/tests/fuzz/%.o): flags = $(TEST_FLAGS) -Itests/fuzz
$(fuzz_names:%=$(O)/%): $(O)/%: $(O)/tests/fuzz/%.o \
		$(cmd_library) $(injector_library) $(analyzer_library)
	$(say) LD $@
	$(Q)$(CC) $(HOST_LDFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

-include $(fuzz_names:%=$(O)/tests/fuzz/%.d)

# ---- install -------------------------------------------------------------------------------------

installed_program = $(DESTDIR)$(PREFIX)/bin/heapinject
installed_manual = $(DESTDIR)$(PREFIX)/share/man/man1/heapinject.1
installed_bash = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/heapinject
installed_zsh = $(DESTDIR)$(PREFIX)/share/zsh/$(ZSH_FUNCTIONS)/_heapinject
installed_fish = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/heapinject.fish

install: $(program) ## install to DESTDIR and PREFIX
	install -D -m 755 $(program) $(installed_program)
	install -D -m 644 man/heapinject.1 $(installed_manual)
	install -D -m 644 scripts/heapinject.bash $(installed_bash)
	install -D -m 644 scripts/heapinject.zsh $(installed_zsh)
	install -D -m 644 scripts/heapinject.fish $(installed_fish)

uninstall: ## remove what install put there
	rm -f $(installed_program) $(installed_manual)
	rm -f $(installed_bash) $(installed_zsh) $(installed_fish)

# ---- housekeeping --------------------------------------------------------------------------------

formatted_sources := $(foreach part,injector cmd payload analyzer, \
	$(addprefix $(part)/,*.[ch] */*.[ch] */*/*.[ch]))
formatted_tests := $(addprefix tests/,*.[ch] unit/*.h unit/*/*.c unit/*/*/*.c unit/arch/*/*.h \
	unit/*/*/*/*.[ch] fuzz/*.[ch] \
	integration/*.h integration/*/*.[ch] integration/*/*/*.c integration/*/*.cc \
	allocators/*.[ch] allocators/*.cc foreign_roots/*.[ch] \
	long/*.[ch] torture/*.c torture/*/*.[ch] torture/*/arch/*/*.h torture/*/*.cc \
	bench/*.[ch] bench/*.cc \
	leaks/*.[ch] leaks/*.cc leaks/*/*.c leaks/*/*/*.c)
formatted := $(sort $(wildcard include/*.h include/arch/*/*.h $(formatted_sources) \
	$(formatted_tests)))
format: ## clang-format every source in place
	$(Q)$(CLANG_FORMAT) -i $(formatted)

format-check: ## fail if a source is not formatted
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(formatted)

compilation = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(CC) $(2) -c $(1)"}
compilations = $(foreach s,$(filter %.c,$(1)),echo '$(call compilation,$(s),$(2))';)
compile_commands.json: FORCE ## for clangd and other tools
	@{ $(call compilations,$(injector_sources),$(INJECTOR_FLAGS)) \
	   $(call compilations,$(cmd_sources),$(CMD_FLAGS)) \
	   $(call compilations,$(analyzer_sources),$(ANALYZER_FLAGS)) \
	   $(call compilations,$(payload_sources),$(PAYLOAD_FLAGS)) \
	   $(call compilations,$(host_tests:%=tests/unit/%.c),$(TEST_FLAGS)) \
	   $(call compilations,$(payload_tests:%=tests/unit/%.c),$(PAYLOAD_TEST_FLAGS)) \
	} | sed '1s/^/[/; $$!s/$$/,/; $$s/$$/]/' >$@

clean: ## remove the build directory
	rm -rf $(O) compile_commands.json

# A line that ends in a backslash is joined with the next, and the text goes on behind its ##.
help: ## this text
	@echo 'Targets:'
	@sed -e ':a' -e '/\\$$/{N; s/ *\\\n[[:space:]]*/ /; ba' -e '}' \
		$(firstword $(MAKEFILE_LIST)) | \
	sed -n 's/^\([a-z_.-]*\):[^#]*## \(.*\)/\1|\2/p' | sed 's/ ## / /g' | \
	awk -F'|' '{ printf "  %-22s %s\n", $$1, $$2 }'
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))
