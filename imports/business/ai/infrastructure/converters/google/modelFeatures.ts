/**
 * What a Gemini model of which generation takes, where generations differ. Names say it; the API lists none of
 * this.
 */

export interface GoogleModelFacts {
  /**
   * `level`: https://ai.google.dev/gemini-api/docs/thinking#thinking-levels; `budget`: tokens, Gemini 2.5; `none`:
   * older.
   */
  readonly thinking: 'level' | 'budget' | 'none';
  /** Gemini 2.5 Pro and everything from 3 on always thinks. */
  readonly canStopThinking: boolean;
  readonly levels: readonly ('minimal' | 'low' | 'medium' | 'high')[];
  /**
   * A function call in the current turn is refused without a thought signature
   * (https://ai.google.dev/gemini-api/docs/thought-signatures).
   */
  readonly demandsSignatures: boolean;
  /** Functions beside server tools, and beside JSON output: from 3 on. */
  readonly combinesTools: boolean;
  /** `responseJsonSchema`; older models were given the OpenAPI subset in `responseSchema`. */
  readonly takesJsonSchema: boolean;
  /** Images and files inside a `functionResponse`; older models answer 400. */
  readonly takesMediaInResults: boolean;
}

const known = new Map<string, GoogleModelFacts>();

export function googleModelFacts(model: string): GoogleModelFacts {
  let facts = known.get(model);
  if (facts === undefined) {
    facts = factsOf(model.toLowerCase());
    if (known.size < 1_000) known.set(model, facts);
  }
  return facts;
}

function factsOf(model: string): GoogleModelFacts {
  const generation = generationOf(model);
  const pro = /\bpro\b/.test(model);
  return {
    thinking: generation >= 3 ? 'level' : generation >= 2.5 ? 'budget' : 'none',
    canStopThinking: generation === 2.5 && !pro,
    levels: !pro
      ? ['minimal', 'low', 'medium', 'high']
      : generation >= 3.1
        ? ['low', 'medium', 'high']
        : ['low', 'high'],
    demandsSignatures: generation >= 3,
    combinesTools: generation >= 3,
    takesJsonSchema: generation >= 2.5,
    takesMediaInResults: generation >= 3,
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
