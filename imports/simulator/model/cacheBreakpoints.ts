/** Which models cache prompts at breakpoints. https://developers.openai.com/api/docs/guides/prompt-caching */
import type { WireRequest } from '../wires/WireSimulator';

export function hasCacheBreakpoints({ vendor, model }: Pick<WireRequest, 'vendor' | 'model'>): boolean {
  return vendor === 'openai' && /^gpt-(?:5\.[6-9]|[6-9])/.test(model);
}
