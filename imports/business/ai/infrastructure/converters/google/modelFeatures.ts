/**
 * What a Gemini model of which generation takes, where generations differ. Names say it; the API lists none of
 * this.
 */

export interface GoogleModelFeatures {
  /**
   * `level`: https://ai.google.dev/gemini-api/docs/thinking#thinking-levels; `budget`: tokens, Gemini 2.5; `none`:
   * older.
   */
  readonly thinking: 'level' | 'budget' | 'none';
  /** Gemini 2.5 Pro and everything from 3 on always thinks. */
  readonly canDisableThinking: boolean;
  readonly levels: readonly ('minimal' | 'low' | 'medium' | 'high')[];
  /**
   * A function call in the current turn is refused without a thought signature
   * (https://ai.google.dev/gemini-api/docs/thought-signatures).
   */
  readonly requiresSignatures: boolean;
  /** Functions beside server tools, and beside JSON output: from 3 on. */
  readonly canCombineTools: boolean;
  /** `responseJsonSchema`; older models were given the OpenAPI subset in `responseSchema`. */
  readonly supportsJsonSchema: boolean;
  /** Images and files inside a `functionResponse`; older models answer 400. */
  readonly supportsMediaInResults: boolean;
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
    levels: !isPro
      ? ['minimal', 'low', 'medium', 'high']
      : generation >= 3.1
        ? ['low', 'medium', 'high']
        : ['low', 'high'],
    requiresSignatures: generation >= 3,
    canCombineTools: generation >= 3,
    supportsJsonSchema: generation >= 2.5,
    supportsMediaInResults: generation >= 3,
  };
}

/**
 * `gemini-flash-latest` and the like follow the newest; what is no Gemini (Gemma, a tuned model) is treated like
 * 2.5.
 */
function generationOf(model: string): number {
  const numbered = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1];
  if (numbered !== undefined) return Number(numbered);
  return /gemini-.*latest/.test(model) ? 3.1 : 2.5;
}
