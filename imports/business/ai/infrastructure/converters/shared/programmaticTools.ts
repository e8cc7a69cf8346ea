/** Tools that programs of the model may call, for APIs that run no such programs. */
import type { FunctionTool } from '../../../domain/entities/Tool';

/** Adds a warning if the model itself may now call a tool that only its programs were to call. */
export function warnAboutCallers({ name, allowed_callers }: FunctionTool, vendor: string, warnings: string[]): void {
  if (allowed_callers === undefined || allowed_callers.includes('direct')) return;
  warnings.push(
    `The model may call the tool "${name}" itself: in this request, ${vendor} runs no programs that could call it.`,
  );
}
