/**
 * Tools that vendors have trained their models on and that the client executes, such as a shell. Each is a function
 * that also has the vendors' own form.
 */
export const NATIVE_TOOL_TYPES = [
  'apply_patch',
  'browser',
  'computer',
  'custom',
  'mcp_approval',
  'memory',
  'shell',
  'text_editor',
  'tool_search',
] as const;
export type NativeToolType = (typeof NATIVE_TOOL_TYPES)[number];

/** The remaining fields are settings of the tool, which each vendor's form takes what it knows from. */
export interface NativeTool {
  readonly type: NativeToolType;
  readonly [setting: string]: unknown;
}
