/* SPDX-License-Identifier: MIT */
/*
 * player_blob.S - the player (player/player.c) as bytes in this program's read-only data, so that
 * one file is all a user copies.
 *
 * Interface: const uint8_t hi_trial_player[], hi_trial_player_end[]. PLAYER is the path of the
 * built program.
 */
	.section .rodata
	.balign 8
	.globl hi_trial_player
	.type hi_trial_player, @object
hi_trial_player:
	.incbin PLAYER
	.size hi_trial_player, . - hi_trial_player
	.globl hi_trial_player_end
	.type hi_trial_player_end, @object
hi_trial_player_end:
	.byte 0

	.section .note.GNU-stack, "", @progbits
