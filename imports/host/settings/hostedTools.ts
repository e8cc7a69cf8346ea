/** Which tools of vendors' own callers may use: `provider/tool` with commas, or `provider/none`. */

/** @param problems receives what is invalid */
export function readHostedTools(
  value: string | undefined,
  providerIds: readonly string[],
  problems: string[],
): Readonly<Partial<Record<string, readonly string[]>>> {
  const tools: Record<string, string[]> = {};
  for (const entry of (value ?? '').split(',').map((each) => each.trim())) {
    if (entry === '') continue;
    const [, providerId = '', tool = ''] = /^([^/]*)\/([a-z0-9_]+)$/.exec(entry) ?? [];
    if (tool === '')
      problems.push(`LLM_HOSTED_TOOLS has "${entry.slice(0, 100)}". Expected provider/tool, or provider/none`);
    else if (!providerIds.includes(providerId))
      problems.push(`LLM_HOSTED_TOOLS names the provider "${providerId}", which is not set up`);
    else {
      const permitted = (tools[providerId] ??= []);
      if (tool !== 'none') permitted.push(tool);
    }
  }
  return tools;
}
