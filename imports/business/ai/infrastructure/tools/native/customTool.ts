/** A tool whose input is free text: OpenAI's `custom`, and a function elsewhere. */
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import { customFunction } from '../../../domain/entities/customFunction';
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';

/** What a model may write. Models that cannot be held to a grammar are told of it. */
export type CustomToolFormat =
  | { readonly type: 'text' }
  | { readonly type: 'grammar'; readonly syntax: 'lark' | 'regex'; readonly definition: string };

export interface CustomToolOptions extends Omit<NativeToolOptions<CustomToolInput>, 'execute'> {
  readonly name: string;
  readonly format?: CustomToolFormat;
  readonly execute: (input: string, context: ToolCallContext) => unknown;
}

export interface CustomToolInput {
  readonly input: string;
}

export function customTool({ execute, name, description, format, ...options }: CustomToolOptions): RegisteredTool {
  const { type: _, ...offered } = customFunction({ name, description, format });
  return {
    ...offered,
    ...options,
    native: omitUndefined({ type: 'custom' as const, description, format }),
    execute: ({ input }: CustomToolInput, context) => execute(input, context),
  };
}
