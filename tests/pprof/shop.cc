/* SPDX-License-Identifier: MIT */
/*
 * Allocates in several ways, for the profilers that are linked in or preloaded: shop PREFIX. It
 * writes PREFIX.old.* and PREFIX.new.*: with tcmalloc what MallocExtension returns, with jemalloc
 * what mallctl dumps. It is built without optimization, because go tool pprof does not know inlined
 * calls of C++.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef WITH_TCMALLOC
#include <gperftools/malloc_extension.h>
#endif
#ifdef WITH_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

namespace shop
{

struct Item {
	char *name;
	int *stock;
	Item *next;
};

struct Tree {
	Tree *left, *right;
	char *load;
};

class Catalogue
{
      public:
	Item *first = nullptr;
	Item *add(int number, int round);
	void drop(int count);
};

char *label(int number)
{
	char *name = static_cast<char *>(malloc(static_cast<size_t>(20 + number % 90)));

	sprintf(name, "item number %d", number);
	return name;
}

void restock(Item *item, int count)
{
	item->stock = new int[static_cast<size_t>(count)];
}

Item *Catalogue::add(int number, int round)
{
	Item *item = new Item;

	item->name = label(number);
	restock(item, 10 + number % 50 * round);
	item->next = first;
	return first = item;
}

void Catalogue::drop(int count)
{
	while (count-- > 0 && first) {
		Item *next = first->next;

		free(first->name);
		delete[] first->stock;
		delete first;
		first = next;
	}
}

Tree *grow(int depth)
{
	Tree *tree = new Tree();

	tree->load = static_cast<char *>(calloc(1, static_cast<size_t>(64 << depth % 8)));
	if (depth > 1) {
		tree->left = grow(depth - 1);
		tree->right = grow(depth - 2);
	}
	return tree;
}

void uproot(Tree *tree)
{
	if (!tree)
		return;
	uproot(tree->left);
	uproot(tree->right);
	free(tree->load);
	delete tree;
}

size_t scratch(size_t size)
{
	char *bytes = static_cast<char *>(malloc(size));

	memset(bytes, 1, size);
	bytes = static_cast<char *>(realloc(bytes, 2 * size));
	size = static_cast<size_t>(bytes[size / 2]);
	free(bytes);
	return size;
}

} // namespace shop

static shop::Catalogue catalogue;
static std::vector<shop::Tree *> trees;
static std::vector<std::string> words;
static size_t sink;

static void work(int round)
{
	for (int i = 0; i < 2000; i++)
		catalogue.add(i, round);
	trees.push_back(shop::grow(7 + round % 2));
	for (size_t i = 0; i < 300; i++)
		sink += shop::scratch(1000 * (1 + i % 40));
	for (int i = 0; i < 1000; i++)
		words.push_back(std::string("a word that is too long to be kept inside ") +
				std::to_string(i));
}

#ifdef WITH_TCMALLOC
static void write_text(const std::string &name, const std::string &text)
{
	FILE *file = fopen(name.c_str(), "w");

	if (!file || fwrite(text.data(), 1, text.size(), file) != text.size() || fclose(file))
		abort();
}
#endif

static void write_profiles(const std::string &prefix)
{
#ifdef WITH_TCMALLOC
	MallocExtensionWriter sample, growth;

	MallocExtension::instance()->GetHeapSample(&sample);
	MallocExtension::instance()->GetHeapGrowthStacks(&growth);
	write_text(prefix + ".sample.heap", sample);
	write_text(prefix + ".growth.heap", growth);
#elif defined(WITH_JEMALLOC)
	const std::string name = prefix + ".je.heap";
	const char *path = name.c_str();

	if (mallctl("prof.dump", nullptr, nullptr, &path, sizeof(path)))
		abort();
#else
	(void)prefix;
#endif
}

int main(int argc, char **argv)
{
	const std::string prefix = argc > 1 ? argv[1] : "shop";

	for (int round = 1; round <= 3; round++)
		work(round);
	write_profiles(prefix + ".old");
	work(4);
	catalogue.drop(3000);
	shop::uproot(trees[0]);
	work(5);
	write_profiles(prefix + ".new");
	return sink == 0;
}
