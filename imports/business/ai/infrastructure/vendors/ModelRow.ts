/** The shape of a row in a vendor's model table, and of the data files in `models/` that the tables are read from. */
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { ModelPrice, PriceFactors, ToolPrices } from '../../domain/types/ModelPrice';

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
  /** For all priced models of the file, as the factors and prices below, unless an entry has others. */
  readonly serviceTiers?: PriceFactors;
  readonly speeds?: PriceFactors;
  readonly regions?: PriceFactors;
  readonly tools?: ToolPrices;
  readonly models: readonly ModelEntry[];
}

/** Where a name may start: services put `openai/`, `us.anthropic.`, `models/` or `ft:` before it. */
const START = '(?:^|[/:.])';
/** Where a name may end: dates, `latest`, `preview` and the like may follow, another digit or `.5` may not. */
const END = '(?![\\d.]|-\\d(?:\\D|$))';

export function toModelRows({ models, ...common }: Omit<ModelData, 'sources'>): readonly ModelRow[] {
  return models.map(({ name = '', models: pattern = namePattern(name), note: _, ...capabilities }) => {
    const { price } = capabilities;
    return price === undefined
      ? { models: pattern, ...capabilities }
      : { models: pattern, ...capabilities, price: withCommon(price, common) };
  });
}

type CommonPrices = Pick<ModelData, 'serviceTiers' | 'speeds' | 'regions' | 'tools'>;

/** Completes a model's price by what holds for all models of its file. */
function withCommon(price: ModelPrice, { serviceTiers, speeds, regions, tools }: CommonPrices): ModelPrice {
  return omitUndefined({
    ...price,
    serviceTiers: merged(serviceTiers, price.serviceTiers),
    speeds: merged(speeds, price.speeds),
    regions: merged(regions, price.regions),
    tools: merged(tools, price.tools),
  });
}

function merged<T extends object>(common: T | undefined, own: T | undefined): T | undefined {
  return common === undefined ? own : own === undefined ? common : { ...common, ...own };
}

function namePattern(name: string): string {
  return `${START}(?:${name.replace(/(\d)-(?=\d)/g, '$1[-.]')})${END}`;
}
