/* SPDX-License-Identifier: MIT */
/* counter_order.h - aarch64: records of two rings may have the same time, so there is one ring. */
#ifndef HI_COUNTER_ORDER_H
#define HI_COUNTER_ORDER_H

#define COUNTER_ORDERS_RINGS 0

#endif
