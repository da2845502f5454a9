// SPDX-License-Identifier: MIT
// Nothing: so that LD_PRELOAD and the list of libraries are as long as with libcount.so.
int blank;
