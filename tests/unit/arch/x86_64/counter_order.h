/* SPDX-License-Identifier: MIT */
/* counter_order.h - x86-64: no two records that follow from each other have the same time. */
#ifndef HI_COUNTER_ORDER_H
#define HI_COUNTER_ORDER_H

#define COUNTER_ORDERS_RINGS 1

#endif
