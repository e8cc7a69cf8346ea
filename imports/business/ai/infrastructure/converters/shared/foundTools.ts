/**
 * Adds the tools that a model finds during a run to its requests so that these go on to begin alike, as caches of
 * prompts require: the list of tools never changes, and what was found is told where the conversation has found it.
 */
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { FunctionCallItem, FunctionCallOutputItem, InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { FindableTools } from '../../../domain/types/ToolSearch';
import { bridgeOf } from './bridgeTool';
import { foundIn, SearchCalls, writtenOnce } from './searchResults';
import type { RewrittenTools } from './RewrittenTools';

/** How an API is told of tools in mid-conversation. */
export interface FoundToolsForm {
  /**
   * Returns the tools of every request of the run.
   * @param listed tools that are given from the beginning
   * @param guessed names of findable tools that the model has called without finding them
   */
  list(listed: readonly Tool[], findable: readonly FunctionTool[], guessed: ReadonlySet<string>): readonly Tool[];
  /** The result of a search. Absent: as it is. */
  writeResult?(output: FunctionCallOutputItem, found: readonly FunctionTool[]): InputItem;
  /** What follows the results that the tools were found in. Absent: nothing. */
  announce?(tools: readonly FunctionTool[]): InputItem;
  /** Whether `announce` is for guessed tools only, since results of searches name the others. */
  readonly announcesGuesses?: boolean;
}

/** @param formOf undefined: found tools are called through one function that never changes */
export function offerFoundTools(
  options: NormalizedOptions,
  formOf: () => FoundToolsForm | undefined,
): RewrittenTools | undefined {
  const { findableTools: findable, tools = [] } = options;
  if (findable === undefined || findable.tools.length === 0) return undefined;
  const form = formOf();
  const names = new Map(findable.tools.map((tool) => [tool.name, tool]));
  const listed = tools.filter(({ type, name }) => type !== 'function' || !names.has(name));
  if (form === undefined) return bridgeOf(options, listed, findable, names);
  const history = new FoundHistory(form, findable, names);
  const rewritten = history.write(options);
  return {
    options: { ...rewritten, tools: form.list(listed, findable.tools, history.guessed) },
    restoreResponse: (response) => response,
    restoreEvent: (event) => [event],
  };
}

class FoundHistory {
  /** Names of tools that were called without having been found. */
  readonly guessed = new Set<string>();
  private readonly form: FoundToolsForm;
  private readonly findable: FindableTools;
  private readonly names: ReadonlyMap<string, FunctionTool>;
  private readonly known = new Set<string>();
  private unannounced: FunctionTool[] = [];

  constructor(form: FoundToolsForm, findable: FindableTools, names: ReadonlyMap<string, FunctionTool>) {
    this.form = form;
    this.findable = findable;
    this.names = names;
  }

  write(options: NormalizedOptions): NormalizedOptions {
    const { input, promptCache } = options;
    const searches = new SearchCalls(this.findable);
    const items: InputItem[] = [];
    const places: number[] = [];
    for (const [index, item] of input.entries()) {
      const previous = input[index - 1];
      if (item.type !== 'function_call_output' && previous?.type === 'function_call_output')
        this.announce(previous, items);
      places.push(items.length);
      if (item.type === 'function_call') this.noteCall(item, searches);
      const isResult = item.type === 'function_call_output' && searches.isResult(item);
      items.push(isResult ? this.writeResult(item) : item);
    }
    const last = input.at(-1);
    if (last?.type === 'function_call_output') this.announce(last, items);
    const breakpoints = typeof promptCache === 'object' ? promptCache.breakpoints : undefined;
    if (typeof promptCache !== 'object' || breakpoints === undefined) return { ...options, input: items };
    const moved = breakpoints.map((index) => places[index] ?? index);
    return { ...options, input: items, promptCache: { ...promptCache, breakpoints: moved } };
  }

  private noteCall(call: FunctionCallItem, searches: SearchCalls): void {
    if (searches.note(call) || this.known.has(call.name)) return;
    const tool = this.names.get(call.name);
    if (tool === undefined) return;
    this.known.add(call.name);
    this.guessed.add(call.name);
    this.unannounced.push(tool);
  }

  private writeResult(output: FunctionCallOutputItem): InputItem {
    const found = foundIn(output, this.names);
    for (const tool of found) {
      if (this.known.has(tool.name)) continue;
      this.known.add(tool.name);
      if (this.form.announcesGuesses !== true) this.unannounced.push(tool);
    }
    if (found.length === 0 || this.form.writeResult === undefined) return output;
    return writtenOnce(output, this.form, found, () => this.form.writeResult?.(output, found) ?? output);
  }

  /** @param output the last one of its group */
  private announce(output: FunctionCallOutputItem, items: InputItem[]): void {
    const { form, unannounced: tools } = this;
    if (tools.length === 0) return;
    this.unannounced = [];
    if (form.announce !== undefined)
      items.push(writtenOnce(announcementOf(output), form, tools, () => form.announce?.(tools) ?? output));
  }
}

/** Announcements are found by the result that they follow, which is rewritten itself if it is that of a search. */
const announcements = new WeakMap<FunctionCallOutputItem, object>();

function announcementOf(output: FunctionCallOutputItem): object {
  let key = announcements.get(output);
  if (key === undefined) announcements.set(output, (key = {}));
  return key;
}
