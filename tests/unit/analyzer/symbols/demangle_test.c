/* SPDX-License-Identifier: MIT */
/*
 * demangle_test.c - mangled names as gcc, clang and rustc wrote them, and what people want to read
 * instead.
 */
#include "unit.h"

#include "demangle.h"

struct pair {
	const char *name, *readable;
};

static void check_all(const struct pair *pair, bool full)
{
	for (; pair->name; pair++) {
		char *readable = demangle(pair->name, full);
		CHECK_STR(readable, pair->readable);
		free(readable);
	}
}

UNIT_TEST(cxx_short)
{
	static const struct pair pairs[] = {
		{"_ZN2ns2goEv", "ns::go"},
		{"_ZN2ns12_GLOBAL__N_13Hid3runEi", "ns::(anonymous namespace)::Hid::run"},
		{"_ZZN2ns12_GLOBAL__N_13Hid3runEiENKUlcE_clEc",
		 "ns::(anonymous namespace)::Hid::run::{lambda()#1}::operator()"},
		{"_ZN2ns3BoxINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEED2Ev",
		 "ns::Box::~Box"},
		{"_ZN2ns4pickIiEERKT_RKSt6vectorIS1_SaIS1_EERKSt8functionIFvS1_EE", "ns::pick"},
		{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_M_constructIPKcEEvT_S8_"
		 "St20forward_iterator_tag",
		 "std::__cxx11::basic_string::_M_construct"},
		{"_ZN2ns6taggedB5cxx11Ev", "ns::tagged"},
		{"_ZN3foo3barEv.cold", "foo::bar"},
		{"_ZThn16_N3foo3barEv", "foo::bar"},
		{NULL, NULL},
	};
	check_all(pairs, false);
}

UNIT_TEST(cxx_operators)
{
	static const struct pair pairs[] = {
		{"_ZN2ns3BoxIiEclEi", "ns::Box::operator()"},
		{"_ZN2ns3BoxIiElsEi", "ns::Box::operator<<"},
		{"_ZN2ns3BoxIiEptEv", "ns::Box::operator->"},
		{"_ZNK2ns3BoxIiEixEi", "ns::Box::operator[]"},
		{"_ZNK2ns3BoxIiEltERKS1_", "ns::Box::operator<"},
		{"_ZNK2ns3BoxIiEltIlEEbT_", "ns::Box::operator<"},
		{"_ZNK2ns3BoxIiEeqIlEEbT_", "ns::Box::operator=="},
		{"_ZNK2ns3BoxIiEcvbEv", "ns::Box::operator bool"},
		{"_ZNK2ns3BoxIiEcvSt6vectorIiSaIiEEEv",
		 "ns::Box::operator std::vector<int, std::allocator<int> >"},
		{"_ZN2nsli3_kmEe", "ns::operator\"\" _km"},
		{"_Znwm", "operator new"},
		{"_ZdaPv", "operator delete[]"},
		{NULL, NULL},
	};
	check_all(pairs, false);
}

UNIT_TEST(cxx_full)
{
	static const struct pair pairs[] = {
		{"_ZNK2ns3BoxIiEltIlEEbT_", "bool ns::Box<int>::operator< <long>(long) const"},
		{"_Znwm", "operator new(unsigned long)"},
		{NULL, NULL},
	};
	check_all(pairs, true);
}

/* Each pair has the one before it twice. */
static void write_cxx_explosion(char name[1024], int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *end = name + sprintf(name, "_Z1fSt4pairIiiE");

	for (int i = 0; i < levels; i++)
		end += sprintf(end, "S_IS%c_S%c_E", digits[i], digits[i]);
}

UNIT_SLOW_TEST(cxx_explosion_is_refused)
{
	char name[1024];

	write_cxx_explosion(name, 1);
	char *readable = demangle(name, true);
	CHECK_STR(readable,
		  "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
	free(readable);
	/* By a child, but well within its means. */
	write_cxx_explosion(name, 9);
	strcat(name, "S0_S0_S0_S0_");
	readable = demangle(name, false);
	CHECK_STR(readable, "f");
	free(readable);
	write_cxx_explosion(name, 34);
	for (int i = 0; i < 20; i++) {
		readable = demangle(name, false);
		CHECK_STR(readable, name);
		free(readable);
	}
}

UNIT_TEST(rust_legacy)
{
	static const struct pair pairs[] = {
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
		 "3bar17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar"},
		{"_ZN53_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$Drop$GT$"
		 "4drop17h930b740aa94f1d3aE.llvm.42",
		 "<alloc::vec::Vec<T,A> as Drop>::drop"},
		{"_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		 "app::main::{{closure}}"},
		{"_ZN86_$LT$u..$u6a21$$u5757$$LT$alloc..vec..Vec$LT$T$GT$$GT$$u20$as$u20$"
		 "u..Gr$uf6$$udf$e$GT$2go17h5f3cc1d9e2907864E",
		 "<u::$u6a21$$u5757$<alloc::vec::Vec<T>> as u::Gr$uf6$$udf$e>::go"},
		{NULL, NULL},
	};
	check_all(pairs, false);
}

UNIT_TEST(rust_v0)
{
	static const struct pair pairs[] = {
		{"_RINvCs6GmmlP4bgsG_1r3arrKj8_EB2_", "r::arr"},
		{"_RINvCs6GmmlP4bgsG_1r5applyNCNvB2_4main0EB2_", "r::apply"},
		{"_RNCNvCs6GmmlP4bgsG_1r4mains0_0B3_.llvm.1234", "r::main::{closure#2}"},
		{"_RINvMNtNtCsgEmfK2I1SDS_4core3fmt2rtNtB3_8Argument9new_debughECs6GmmlP4bgsG_1r",
		 "<core::fmt::rt::Argument>::new_debug"},
		{NULL, NULL},
	};
	static const struct pair full_pairs[] = {
		{"_RINvCs6GmmlP4bgsG_1r3arrKj8_EB2_", "r::arr::<8>"},
		{"_RINvMNtCsgEmfK2I1SDS_4core6optionINtB3_6OptionReE11map_or_elseNtNtCslNYArtu3iFV_"
		 "5alloc6string6StringNCNvNtB12_3fmt6format0NvYeNtNtB12_"
		 "6borrow7ToOwned8to_ownedECs6GmmlP4bgsG_1r",
		 "<core::option::Option<&str>>::map_or_else::<alloc::string::String, "
		 "alloc::fmt::format::{closure#0}, <str as "
		 "alloc::borrow::ToOwned>::to_owned>"},
		{NULL, NULL},
	};
	check_all(pairs, false);
	check_all(full_pairs, true);
}

/*
 * Back references that go forward or in circles, lists and numbers that do not end, and each
 * beginning of a good name.
 */
UNIT_TEST(rust_v0_nonsense_stays)
{
	static const char good[] = "_RINvMNtNtCsgEmfK2I1SDS_4core3fmt2rtNtB3_8Argument11new_"
				   "displayAhj8_TNtB3_1aRxEFUKClEuE";
	static const char *const names[] = {"_R",
					    "_RB_",
					    "_RNvB_1a",
					    "_RNvB9_1a",
					    "_RINvC1a1bRB8_E",
					    "_RINvC1a1b",
					    "_RNvC99999999999999999999a1b",
					    "_RCszzzzzzzzzzzzzzzz_1a",
					    "_RINvC1a1bKj",
					    "_RINvC1a1bTTTTTTTTTTTTTTTT"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *readable = demangle(names[i], true);
		CHECK_STR(readable, names[i]);
		free(readable);
	}
	for (size_t size = 0; size < sizeof(good); size++) {
		char *part = strndup(good, size), *readable = demangle(part, true);
		CHECK(readable);
		free(readable);
		free(part);
	}
}

/* A name of levels + 1 tuples, each of which has the one before it twice: 2^levels parts. */
static void write_explosion(char name[1024], int levels)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t last = strlen("INvC1a1b");
	char reference[8];

	strcpy(name, "_RINvC1a1bTuuE");
	for (int i = 0; i < levels; i++) {
		const size_t at = strlen(name) - 2, number = last - 1;
		if (number < 62)
			snprintf(reference, sizeof(reference), "B%c_", digits[number]);
		else
			snprintf(reference, sizeof(reference), "B%c%c_", digits[number / 62],
				 digits[number % 62]);
		strcat(strcat(strcat(strcat(name, "T"), reference), reference), "E");
		last = at;
	}
	strcat(name, "E");
}

UNIT_TEST(rust_v0_explosion_is_refused)
{
	char name[1024];

	write_explosion(name, 1);
	char *readable = demangle(name, true);
	CHECK_STR(readable, "a::b::<((), ()), (((), ()), ((), ()))>");
	free(readable);
	write_explosion(name, 60);
	for (int full = 0; full < 2; full++) {
		readable = demangle(name, full);
		CHECK_STR(readable, name);
		free(readable);
	}
}

/* "for<...>" with 916 million lifetimes in 22 bytes: other demanglers write each of them. */
UNIT_TEST(rust_v0_lifetimes_cost_nothing)
{
	static const struct pair pairs[] = {{"_RINvC1a1bDGzzzzz_EL_E", "a::b"}, {NULL, NULL}};
	static const struct pair full_pairs[] = {{"_RINvC1a1bDGzzzzz_EL_E", "a::b::<dyn >"},
						 {NULL, NULL}};

	check_all(pairs, false);
	check_all(full_pairs, true);
}

UNIT_TEST(others_stay)
{
	static const struct pair pairs[] = {
		{"main", "main"},
		{"main.(*Server).Serve", "main.(*Server).Serve"},
		{"_Zbroken", "_Zbroken"},
		{"_ZN", "_ZN"},
		{"_ZN99999999999999999999aE", "_ZN99999999999999999999aE"},
		{"", ""},
		{"dictResize.part.0", "dictResize"},
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{".init", ".init"},
		{NULL, NULL},
	};
	check_all(pairs, false);
}

UNIT_TEST(control_characters_are_replaced)
{
	static const struct pair pairs[] = {
		{"a\x1b[31mb\nc", "a?[31mb?c"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"bad\xc3(\xff", "bad?(?"},
		{"c1\xc2\x9b", "c1??"},
		{NULL, NULL},
	};
	check_all(pairs, false);
}

/*
 * Nothing that the demangler would print, but the text may come from elsewhere: no bracket closes,
 * and nothing is written beyond the end.
 */
UNIT_TEST(shorten_survives_nonsense)
{
	static const char *const names[] = {"{(",       "<",         "foo<(",        "(((",
					    "operator", "operator<", "a operator()", "{lambda(",
					    ">",        "x [",       "foo) > <bar"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = strdup(names[i]);
		demangle_shorten(name);
		CHECK(strlen(name) <= strlen(names[i]));
		free(name);
	}
}

UNIT_MAIN()
