/**
 * How a vendor's own models are called, so that a model's name alone may tell whom to ask. Hosts of anybody's
 * models claim none.
 */
import type { VendorName } from '../../domain/types/VendorTypes';

const FAMILIES: Readonly<Record<VendorName, readonly RegExp[]>> = {
  // https://platform.openai.com/docs/models; gpt-oss runs elsewhere only
  openai: [/^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|codex-|computer-use-|o\d)/i],
  // A deployment can have any name.
  azure_openai: [],
  anthropic: [/^claude-/i],
  google: [/^(?:gemini|gemma|learnlm)-/i],
  grok: [/^grok-/i],
  // https://console.groq.com/docs/models
  groq: [/^(?:llama-|meta-llama\/|openai\/gpt-oss|moonshotai\/|qwen\/|groq\/|canopylabs\/)/i],
  llama: [/^(?:meta-)?llama/i],
  openai_compatible: [],
};

export function isOfFamily(vendor: VendorName, model: string): boolean {
  return FAMILIES[vendor].some((family) => family.test(model));
}
