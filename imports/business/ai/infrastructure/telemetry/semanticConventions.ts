/**
 * The versions of OpenTelemetry's semantic conventions for generative AI in which attributes can be written. The code
 * writes those of the current one; older ones rename or lack some.
 * https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai
 */
import type { Attributes, AttributeValue } from '@opentelemetry/api';

/** `1.41` is the last one that the specification has released; `1.36` is what instrumentations wrote before 2025-08. */
export const CONVENTIONS_VERSIONS = ['1.41', '1.36'] as const;
export type ConventionsVersion = (typeof CONVENTIONS_VERSIONS)[number];

/** Turns attributes of the current version into those of another one. */
export type AttributeWriter = (attributes: Attributes) => Attributes;

const ADDED_SINCE_1_36: ReadonlySet<string> = new Set([
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.request.stream',
  'gen_ai.response.time_to_first_chunk',
  'gen_ai.system_instructions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.tool.definitions',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.reasoning.output_tokens',
]);

const SYSTEMS: Readonly<Record<string, string>> = { x_ai: 'xai' };

export function attributeWriter(version: ConventionsVersion): AttributeWriter {
  if (version === '1.41') return (attributes) => attributes;
  return (attributes) =>
    Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => !ADDED_SINCE_1_36.has(name))
        .map(([name, value]) => (name === 'gen_ai.provider.name' ? ['gen_ai.system', toSystem(value)] : [name, value])),
    );
}

function toSystem(value: AttributeValue | undefined): AttributeValue | undefined {
  return typeof value === 'string' ? (SYSTEMS[value] ?? value) : value;
}

/** What the conventions call the vendors. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure_openai: 'azure.ai.openai',
  anthropic: 'anthropic',
  google: 'gcp.gemini',
  grok: 'x_ai',
  groq: 'groq',
};

/** @returns the id, which the operator has chosen, for a vendor that the conventions do not name */
export function providerNameOf(providerId: string, vendor: string | undefined): string {
  const name = PROVIDER_NAMES[vendor ?? providerId];
  return name ?? providerId;
}
