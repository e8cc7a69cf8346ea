import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from '../ToolRegistry';

/** What is up to the program in a tool whose form vendors define. */
export interface NativeToolOptions<Input> extends Pick<
  RegisteredTool,
  'blocking' | 'timeout' | 'sequential' | 'idempotent' | 'delivery' | 'onDuplicate' | 'onChange' | 'readOnly'
> {
  /** For vendors that lack the tool. */
  readonly description?: string;
  /** Whether a person must approve the call before it runs. */
  readonly needsApproval?:
    | boolean
    | ((
        input: Input,
        context: Pick<ToolCallContext, 'userId' | 'executionId' | 'callId'>,
      ) => boolean | Promise<boolean>);
  /** What it throws, the model receives as an error. */
  readonly execute: (input: Input, context: ToolCallContext) => unknown;
}
