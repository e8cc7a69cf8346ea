/**
 * The headers of a vendor's answer that its clients act upon: how much they may still ask, when to ask again, how
 * long it took.
 */

/**
 * Left out are those that tell of the account behind (`openai-organization`, `anthropic-organization-id`, …), of
 * the way between, and cookies: whose account it is, is the operator's affair.
 * https://platform.openai.com/docs/api-reference/debugging-requests,
 * https://platform.claude.com/docs/en/api/rate-limits#response-headers
 */
const SHOWN =
  /^(?:x-ratelimit-[\w-]+|anthropic-(?:ratelimit|priority)-[\w-]+|retry-after(?:-ms)?|x-should-retry|openai-(?:processing-ms|version))$/;

/** What would fit into no header of ours, or is none of theirs. */
const PLAIN = /^[\x20-\x7e]{1,200}$/;

/** @param headers names in lower case */
export function passthroughHeaders(headers: Iterable<readonly [string, string]>): Readonly<Record<string, string>> {
  const shown: Record<string, string> = {};
  for (const [name, value] of headers) if (SHOWN.test(name) && PLAIN.test(value)) shown[name] = value;
  return shown;
}
