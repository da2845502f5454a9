/* SPDX-License-Identifier: MIT */
/*
 * demangle_test.c - mangled names as gcc, clang and rustc wrote them, and what people want to read instead.
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
		{"_ZZN2ns12_GLOBAL__N_13Hid3runEiENKUlcE_clEc", "ns::(anonymous namespace)::Hid::run::{lambda()#1}::operator()"},
		{"_ZN2ns3BoxINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEED2Ev", "ns::Box::~Box"},
		{"_ZN2ns4pickIiEERKT_RKSt6vectorIS1_SaIS1_EERKSt8functionIFvS1_EE", "ns::pick"},
		{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_M_constructIPKcEEvT_S8_St20forward_iterator_tag",
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
		{"_ZNK2ns3BoxIiEcvSt6vectorIiSaIiEEEv", "ns::Box::operator std::vector<int, std::allocator<int> >"},
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

UNIT_TEST(rust_legacy)
{
	static const struct pair pairs[] = {
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar"},
		{"_ZN53_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$Drop$GT$4drop17h930b740aa94f1d3aE.llvm.42", "<alloc::vec::Vec<T,A> as Drop>::drop"},
		{"_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "app::main::{{closure}}"},
		{NULL, NULL},
	};
	check_all(pairs, false);
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

/* Nothing that the demangler would print, but the text may come from elsewhere: no bracket closes, and nothing is written beyond the end. */
UNIT_TEST(shorten_survives_nonsense)
{
	static const char *const names[] = {"{(", "<", "foo<(", "(((", "operator", "operator<", "a operator()", "{lambda(", ">", "x [", "foo) > <bar"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = strdup(names[i]);
		demangle_shorten(name);
		CHECK(strlen(name) <= strlen(names[i]));
		free(name);
	}
}

UNIT_MAIN()
