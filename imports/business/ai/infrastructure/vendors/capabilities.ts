/** What a model can do, by vendor and name, from tables that settings can extend. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { ANTHROPIC_MODELS } from './anthropic';
import { GOOGLE_MODELS } from './google';
import { GROK_MODELS } from './grok';
import { GROQ_MODELS, OPEN_MODELS } from './groq';
import { OPENAI_MODELS } from './openai';
import type { ModelRow } from './ModelRow';
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { VendorName, WireName } from '../../domain/types/VendorTypes';

export type { ModelRow } from './ModelRow';

/**
 * First match wins. A row of `extensions` goes before the vendor's own and need only say what is different.
 * @param wire the one that the account uses; without it, the vendor's usual one
 * @throws LLMInvalidRequestError for an extension whose pattern is no regular expression
 */
export function capabilitiesOf(
  vendor: VendorName,
  model: string,
  extensions: readonly ModelRow[] = [],
  wire: WireName = FACTS[vendor].wire,
): ModelCapabilities {
  const known = builtIn(vendor, model, wire);
  const extension = extensions.find((candidate) => patternOf(candidate.models).test(model));
  if (extension === undefined) return known;
  const { models: _, ...facts } = extension;
  return { ...known, ...facts };
}

interface VendorFacts {
  readonly wire: WireName;
  readonly models: readonly ModelRow[];
  /** Models that are at home elsewhere: what they can do is known, what they cost here is not. */
  readonly guests?: readonly ModelRow[];
  /** Whether `previous_response_id` works on the Responses wire. */
  readonly keepsResponses: boolean;
}

/** Sets limits that nearly every model keeps, and lets the vendor be the judge of content. */
const UNKNOWN_MODEL: ModelCapabilities = {
  supportsTools: true,
  supportsParallelTools: true,
  supportsAsyncTools: false,
  supportsVision: true,
  supportsFiles: true,
  supportsJSON: true,
  supportsJSONSchema: true,
  supportsReasoning: false,
  keepsState: false,
  maxTokens: 32_768,
  maxOutputTokens: 4_096,
};

const EVERY_FAMILY = [...OPENAI_MODELS, ...ANTHROPIC_MODELS, ...GOOGLE_MODELS, ...GROK_MODELS, ...OPEN_MODELS];

const FACTS: Readonly<Record<VendorName, VendorFacts>> = {
  openai: { wire: 'responses', models: OPENAI_MODELS, keepsResponses: true },
  // A deployment can have any name; one that does not tell its model needs a row of its own in the settings.
  azure_openai: {
    wire: 'responses',
    models: [],
    guests: [...OPENAI_MODELS, ...GROK_MODELS, ...OPEN_MODELS],
    keepsResponses: true,
  },
  anthropic: { wire: 'anthropic_messages', models: ANTHROPIC_MODELS, keepsResponses: false },
  google: { wire: 'gemini', models: GOOGLE_MODELS, keepsResponses: false },
  // https://docs.x.ai/docs/guides/responses-api: stored for 30 days
  grok: { wire: 'responses', models: GROK_MODELS, keepsResponses: true },
  groq: { wire: 'chat_completions', models: GROQ_MODELS, guests: OPEN_MODELS, keepsResponses: false },
  llama: { wire: 'chat_completions', models: [], guests: [...GROQ_MODELS, ...OPEN_MODELS], keepsResponses: false },
  openai_compatible: { wire: 'chat_completions', models: [], guests: EVERY_FAMILY, keepsResponses: false },
};

function builtIn(vendor: VendorName, model: string, wire: WireName): ModelCapabilities {
  const key = `${vendor} ${wire} ${model}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const capabilities = Object.freeze(lookUp(FACTS[vendor], vendor, model, wire));
  if (remembered.size >= 1_000) remembered.clear();
  remembered.set(key, capabilities);
  return capabilities;
}

const remembered = new Map<string, ModelCapabilities>();

function lookUp(facts: VendorFacts, vendor: VendorName, model: string, wire: WireName): ModelCapabilities {
  const { models: _, ...own } = find(facts.models, model) ?? withoutPrice(find(facts.guests ?? [], model)) ?? NOTHING;
  const isResponses = wire === 'responses';
  return {
    ...UNKNOWN_MODEL,
    // Asking for a forced tool works on every model of the wire; the native format does not.
    ...(wire === 'anthropic_messages' && own.maxTokens === undefined ? { supportsJSONSchema: false } : {}),
    ...own,
    supportsAsyncTools: own.supportsAsyncTools === true && isResponses && vendor === 'openai',
    keepsState: facts.keepsResponses && isResponses,
  };
}

const NOTHING: Partial<ModelRow> = {};

function find(rows: readonly ModelRow[], model: string): ModelRow | undefined {
  return rows.find((candidate) => patternOf(candidate.models).test(model));
}

function withoutPrice(row: ModelRow | undefined): ModelRow | undefined {
  if (row === undefined) return undefined;
  const { price: _, ...facts } = row;
  return facts;
}

function patternOf(source: string): RegExp {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const pattern = compile(source);
  if (patterns.size >= 1_000) patterns.clear();
  patterns.set(source, pattern);
  return pattern;
}

const patterns = new Map<string, RegExp>();

function compile(source: string): RegExp {
  try {
    return new RegExp(source, 'i');
  } catch (cause) {
    throw new LLMInvalidRequestError(`models is no regular expression: ${source.slice(0, 100)}`, {
      path: 'models',
      cause,
    });
  }
}
