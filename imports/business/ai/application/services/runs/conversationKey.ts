/** The key of a run's requests for caches of prompts: the one of all runs that continue the same conversation. */
import { hash } from 'node:crypto';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import { canonicalJson } from '../../../domain/util/canonicalJson';

/**
 * Derives the key from the user and the beginning of the conversation, which is part of every transcript that continues
 * it. Users share none, so that nobody learns from cache hits what others have asked.
 */
export function conversationKey(userId: string, [first]: readonly Item[]): string {
  return hash('sha256', canonicalJson([userId, first]), 'base64url');
}
