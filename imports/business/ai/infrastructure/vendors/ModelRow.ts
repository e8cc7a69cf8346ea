/** The shape of a row in a vendor's model table, and of the data files in `models/` that the tables are read from. */
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { ServiceTiers } from '../../domain/types/ModelPrice';

/** The capabilities of the models whose names match. A field left out has the value of the vendor's unlisted models. */
export interface ModelRow extends Partial<ModelCapabilities> {
  /** Source of a regular expression, matched case-insensitively anywhere in the model's name. */
  readonly models: string;
}

/** A row as it is written in a file: with either `name` or `models`. */
export interface ModelEntry extends Partial<ModelCapabilities> {
  /**
   * Source of a regular expression for one name, of which there may be dated or labelled versions: `gpt-5\\.4` matches
   * `openai/gpt-5.4-2026-03-05` too. `4-5` also matches `4.5`, as some services write it.
   */
  readonly name?: string;
  readonly models?: string;
  /** For readers of the file. */
  readonly note?: string;
}

/** What a data file contains. The first entry that matches a model's name counts. */
export interface ModelData {
  /** Where limits and prices are from. */
  readonly sources: readonly string[];
  /** For all priced models of the file. */
  readonly serviceTiers?: ServiceTiers;
  readonly models: readonly ModelEntry[];
}

/** Where a name may start: services put `openai/`, `us.anthropic.`, `models/` or `ft:` before it. */
const START = '(?:^|[/:.])';
/** Where a name may end: dates, `latest`, `preview` and the like may follow, another digit or `.5` may not. */
const END = '(?![\\d.]|-\\d(?:\\D|$))';

export function toModelRows({ models, serviceTiers }: Pick<ModelData, 'models' | 'serviceTiers'>): readonly ModelRow[] {
  return models.map(({ name = '', models: pattern = namePattern(name), note: _, ...capabilities }) => {
    const { price } = capabilities;
    if (price === undefined || serviceTiers === undefined) return { models: pattern, ...capabilities };
    return {
      models: pattern,
      ...capabilities,
      price: { ...price, serviceTiers: { ...serviceTiers, ...price.serviceTiers } },
    };
  });
}

function namePattern(name: string): string {
  return `${START}(?:${name.replace(/(\d)-(?=\d)/g, '$1[-.]')})${END}`;
}
