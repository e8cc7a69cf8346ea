/** How a run keeps the definitions of many tools out of its requests. */
import type { FunctionTool } from '../entities/Tool';

export interface ToolSearchOptions {
  /** Tools whose `deferLoading` is `auto` are deferred in runs with more tools than this. Default 50. */
  readonly threshold?: number;
}

/** `false`: the definitions of all tools are sent with every request. */
export type ToolSearchSetting = false | ToolSearchOptions;

/** What a run records of it, so that every process that continues the run offers the same tools. */
export interface ToolSearchPlan {
  /** The name of the tool with which the model finds others. */
  readonly name: string;
  /** Whether tools whose `deferLoading` is `auto` are deferred. */
  readonly defersAuto: boolean;
}

/** What the model of a run can find among its tools, so that providers can tell it of them where it does. */
export interface FindableTools {
  /** The name of the tool that finds them. */
  readonly searchTool: string;
  /** The definitions. The request's `tools` have those that the input has found, for providers that list all tools. */
  readonly tools: readonly FunctionTool[];
}
