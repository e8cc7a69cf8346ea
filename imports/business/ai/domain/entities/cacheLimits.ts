/** The longest JSON of a response that is cached, in UTF-16 units. */
export const MAX_CACHED_LENGTH = 1_024 * 1_024;

/** The longest time for which a response is cached: 30 days, in milliseconds. */
export const MAX_CACHE_TTL_MS = 30 * 86_400_000;
