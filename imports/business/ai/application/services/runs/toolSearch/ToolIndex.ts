/** Finds tools by the words of their names, descriptions and arguments. */
import type MiniSearch from 'minisearch';
import type { FunctionTool } from '../../../../domain/entities/Tool';
import { isObject } from '../../../../domain/util/json';
import { wordsOf } from '../../../../domain/util/words';

interface Entry {
  readonly id: string;
  readonly description: string;
  readonly parameters: string;
}

/** Results that are worse than this part of the best are noise, such as common words. */
const LEAST_PART_OF_BEST = 0.2;

export class ToolIndex {
  private readonly search: MiniSearch<Entry>;

  private constructor(search: MiniSearch<Entry>) {
    this.search = search;
  }

  /** Loads the search library, which takes a moment the first time. */
  static async create(tools: readonly FunctionTool[]): Promise<ToolIndex> {
    const { default: Search } = await import('minisearch');
    const search = new Search<Entry>({
      fields: ['id', 'description', 'parameters'],
      tokenize: (text) => wordsOf(splitNames(text)),
      processTerm: (term) => term,
      searchOptions: {
        boost: { id: 3, parameters: 0.5 },
        prefix: (term) => term.length > 3,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      },
    });
    search.addAll(
      tools.map(({ name, description = '', parameters }) => ({
        id: name,
        description,
        parameters: fieldTexts(parameters),
      })),
    );
    return new ToolIndex(search);
  }

  /** @returns the names of the tools, the best first */
  find(query: string, limit: number): readonly string[] {
    const found = this.search.search(query);
    const least = (found[0]?.score ?? 0) * LEAST_PART_OF_BEST;
    return found.flatMap(({ id, score }) => (score >= least ? [id as string] : [])).slice(0, limit);
  }
}

/** `createIssue` and `create_issue` are two words. */
function splitNames(text: string): string {
  return text.replace(/[_\-./]+/g, ' ').replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
}

/** Names and descriptions of the arguments. */
function fieldTexts(parameters: FunctionTool['parameters']): string {
  const fields = parameters?.['properties'];
  if (!isObject(fields)) return '';
  return Object.entries(fields)
    .map(([name, field]) =>
      isObject(field) && typeof field['description'] === 'string' ? `${name} ${field['description']}` : name,
    )
    .join(' ');
}
