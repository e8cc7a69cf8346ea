/** What the operator shares of the objects in vendors' accounts: `provider/id`, `provider/beginning*`, with commas. */

/** @param problems receives what is invalid */
export function readSharedObjects(
  value: string | undefined,
  providerIds: readonly string[],
  problems: string[],
): Readonly<Partial<Record<string, readonly string[]>>> {
  const shared: Record<string, string[]> = {};
  for (const entry of (value ?? '').split(',').map((each) => each.trim())) {
    if (entry === '') continue;
    // Ids of Google's API have slashes of their own.
    const [, providerId = '', id = ''] = /^([^/]*)\/(.*)$/.exec(entry) ?? [];
    if (id === '' || /\s|\*./.test(id))
      problems.push(`LLM_SHARED_OBJECTS has "${entry.slice(0, 100)}". Expected provider/id, or provider/beginning*`);
    else if (!providerIds.includes(providerId))
      problems.push(`LLM_SHARED_OBJECTS names the provider "${providerId}", which is not set up`);
    else (shared[providerId] ??= []).push(id);
  }
  return shared;
}
