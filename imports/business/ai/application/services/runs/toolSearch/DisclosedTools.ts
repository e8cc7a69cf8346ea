/**
 * What the model is given of a run's tools: those that are not deferred, and those that it has found or called. This
 * is derived from the transcript alone, so that a process which takes the run over, or a run that continues the
 * transcript, offers the same tools in the same order. Tools are only added, at the end, as long as the history is not
 * compacted: vendors' prompt caches keep what two requests begin with.
 */
import { isFunctionTool } from '../../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { toolNamesIn } from '../../../../domain/entities/toolFindings';
import type { FindableTools } from '../../../../domain/types/ToolSearch';
import type { Item } from '../../../../domain/types/ResponsesAPITypes';
import type { DeferredTools, ToolSet } from '../../tools/ToolSet';

export class DisclosedTools {
  /** The index in the transcript of what has disclosed a tool, by its name. */
  private readonly disclosed = new Map<string, number>();
  /** Ids of the calls that have searched. */
  private readonly searches = new Set<string>();
  private upTo = 0;
  private lastFindable:
    | { readonly from: ToolSet; readonly compactedUpTo: number; readonly findable: FindableTools }
    | undefined;
  private last: { readonly from: ToolSet; readonly count: number; readonly tools: readonly Tool[] } | undefined;

  /**
   * The tools of the next request: the same array as long as they are the same.
   * @param transcript which has grown since the last call
   */
  offered(tools: ToolSet, transcript: readonly Item[]): readonly Tool[] {
    const { deferred } = tools;
    if (deferred === undefined) return tools.tools;
    this.read(transcript, deferred);
    const { size: count } = this.disclosed;
    if (this.last?.from !== tools || this.last.count !== count) {
      const always = tools.tools.filter((tool) => !isFunctionTool(tool) || !deferred.names.has(tool.name));
      this.last = { from: tools, count, tools: [...always, ...this.since(tools, 0)] };
    }
    return this.last.tools;
  }

  /** Returns the tools that the items of the transcript from `index` on have disclosed. */
  disclosedSince(tools: ToolSet, transcript: readonly Item[], index: number): readonly FunctionTool[] {
    if (tools.deferred !== undefined) this.read(transcript, tools.deferred);
    return this.since(tools, index);
  }

  /**
   * Returns the tools that are found by what requests have of the transcript: not those that were disclosed before the
   * index up to which it is compacted, which are listed from then on.
   * @param transcript which has grown since the last call
   */
  findable(tools: ToolSet, transcript: readonly Item[], compactedUpTo: number): FindableTools | undefined {
    const { deferred } = tools;
    if (deferred === undefined) return undefined;
    this.read(transcript, deferred);
    if (this.lastFindable?.from === tools && this.lastFindable.compactedUpTo === compactedUpTo)
      return this.lastFindable.findable;
    const isFindable = (name: string): boolean => (this.disclosed.get(name) ?? Infinity) >= compactedUpTo;
    const definitions = [...deferred.names].filter(isFindable).flatMap((name) => tools.get(name)?.definition ?? []);
    const findable = { searchTool: deferred.searchTool, tools: definitions };
    this.lastFindable = { from: tools, compactedUpTo, findable };
    return findable;
  }

  private since(tools: ToolSet, index: number): readonly FunctionTool[] {
    return [...this.disclosed].flatMap(([name, at]) => (at < index ? [] : (tools.get(name)?.definition ?? [])));
  }

  private read(transcript: readonly Item[], { names, searchTool }: DeferredTools): void {
    for (; this.upTo < transcript.length; this.upTo += 1) {
      const item = transcript[this.upTo];
      if (item?.type === 'function_call') {
        if (item.name === searchTool) this.searches.add(item.call_id);
        // Models remember tools of earlier conversations, and guess.
        else this.disclose(item.name, names);
      } else if (item?.type === 'function_call_output' && this.searches.has(item.call_id))
        for (const name of toolNamesIn(item)) this.disclose(name, names);
    }
  }

  /** Only tools of the run are disclosed, whatever the transcript says. */
  private disclose(name: string, names: ReadonlySet<string>): void {
    if (names.has(name) && !this.disclosed.has(name)) this.disclosed.set(name, this.upTo);
  }
}
