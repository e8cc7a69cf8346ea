/** The features in which generations of Gemini differ. They are derived from model names, since the API lists none. */

export interface GoogleModelFeatures {
  /**
   * `level`: https://ai.google.dev/gemini-api/docs/thinking#thinking-levels; `budget`: tokens, Gemini 2.5; `none`:
   * older.
   */
  readonly thinking: 'level' | 'budget' | 'none';
  /** Gemini 2.5 Pro and all models since Gemini 3 always think. */
  readonly canDisableThinking: boolean;
  readonly levels: readonly ('minimal' | 'low' | 'medium' | 'high')[];
  /**
   * A function call in the current turn is rejected without a thought signature
   * (https://ai.google.dev/gemini-api/docs/thought-signatures).
   */
  readonly requiresSignatures: boolean;
  /** Whether functions can be combined with server tools and with JSON output, since Gemini 3. */
  readonly canCombineTools: boolean;
  /** Whether `responseJsonSchema` is supported. Older models require the OpenAPI subset in `responseSchema`. */
  readonly supportsJsonSchema: boolean;
  /** Whether a `functionResponse` may contain images and files. Older models respond with 400. */
  readonly supportsMediaInResults: boolean;
  /** Whether the penalties are supported. https://github.com/google-gemini/cookbook/issues/1290 */
  readonly supportsPenalties: boolean;
  /**
   * Whether the model may be asked to continue its last message. Requests to Gemini 3.5 Flash go to 3.6.
   * https://ai.google.dev/gemini-api/docs/generate-content/whats-new-gemini-3.6
   */
  readonly mayEndWithModel: boolean;
}

const cache = new Map<string, GoogleModelFeatures>();

export function googleModelFeatures(model: string): GoogleModelFeatures {
  let features = cache.get(model);
  if (features === undefined) {
    features = featuresOf(model.toLowerCase());
    if (cache.size < 1_000) cache.set(model, features);
  }
  return features;
}

function featuresOf(model: string): GoogleModelFeatures {
  const generation = generationOf(model);
  const isPro = /\bpro\b/.test(model);
  return {
    thinking: generation >= 3 ? 'level' : generation >= 2.5 ? 'budget' : 'none',
    canDisableThinking: generation === 2.5 && !isPro,
    levels: levelsOf(model, generation, isPro),
    requiresSignatures: generation >= 3,
    canCombineTools: generation >= 3,
    supportsJsonSchema: generation >= 2.5,
    supportsMediaInResults: generation >= 3,
    supportsPenalties: generation < 2.5,
    mayEndWithModel: generation < 3.5,
  };
}

/** https://ai.google.dev/gemini-api/docs/generate-content/thinking#thinking-levels */
function levelsOf(model: string, generation: number, isPro: boolean): GoogleModelFeatures['levels'] {
  if (isPro) return generation >= 3.1 ? ['low', 'medium', 'high'] : ['low', 'high'];
  return generation >= 3.7 && !model.includes('lite')
    ? ['low', 'medium', 'high']
    : ['minimal', 'low', 'medium', 'high'];
}

/** Aliases like `gemini-flash-latest` count as the newest generation, other models (Gemma, tuned models) as 2.5. */
function generationOf(model: string): number {
  const numbered = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1];
  if (numbered !== undefined) return Number(numbered);
  return /gemini-.*latest/.test(model) ? 4 : 2.5;
}
