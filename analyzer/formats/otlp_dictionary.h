/* SPDX-License-Identifier: MIT */
/*
 * otlp_dictionary.h - what the Profiles of a request have in common, made of the tables of a pprof
 * profile as far as its samples use them.
 */
#ifndef HI_OTLP_DICTIONARY_H
#define HI_OTLP_DICTIONARY_H

#include "otlp_source.h"
#include "otlp_table.h"

struct otlp_dictionary {
	struct otlp_source *source; /* has the errors of what is read */
	struct otlp_table mappings, locations, functions, links, strings, attributes, stacks;
};

void otlp_dictionary_open(struct otlp_dictionary *dictionary, struct otlp_source *source);

/* The number in the dictionary, 0 after an error. */
uint64_t otlp_dictionary_string(struct otlp_dictionary *dictionary, uint64_t string);
/* location: ids, which are replaced by numbers of the dictionary. */
uint64_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, struct otlp_numbers *location);
/* Of a label of a sample. 0 also if it says nothing. */
uint64_t otlp_dictionary_label(struct otlp_dictionary *dictionary,
			       const struct protobuf_field *label);
/* Of the comments, one attribute; 0 also if there are none. */
uint64_t otlp_dictionary_comments(struct otlp_dictionary *dictionary);

/* Out of memory? */
bool otlp_dictionary_has_failed(const struct otlp_dictionary *dictionary);
/* Appends ProfilesDictionary as a field. */
void otlp_dictionary_put(const struct otlp_dictionary *dictionary, struct protobuf *message,
			 unsigned int field);
void otlp_dictionary_close(struct otlp_dictionary *dictionary);

#endif
