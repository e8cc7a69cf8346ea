/** What a run is asked to do, and how far it may go. */
import type { CompactionOptions } from './Compaction';
import type { GenerateOptions, LooseTool } from './LLMTypes';
import type { RunLimits } from './RunLimits';
import type { RunDurability } from './RunRecords';
import type { ToolSearchOptions } from './ToolSearch';

export interface RunOptions extends Omit<GenerateOptions, 'tools'>, Partial<RunLimits> {
  /** Names of the executor's tools, or definitions. */
  readonly tools?: readonly (string | LooseTool)[];
  /** When progress is stored, if runs are stored. Default: `step`. */
  readonly durability?: RunDurability;
  /** Streams the model's responses and emits `llm:delta` events. Default false. */
  readonly stream?: boolean;
  /** Keeps the history within the model's context window. Default: the loop's. */
  readonly compaction?: boolean | CompactionOptions;
  /** Has the model search for tools with `deferLoading`, instead of sending it all definitions. Default: true. */
  readonly toolSearch?: boolean | ToolSearchOptions;
}
