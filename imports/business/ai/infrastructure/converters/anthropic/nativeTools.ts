/**
 * Anthropic's tools that the client executes, as forms of functions. Their calls are `tool_use` blocks like those of
 * other functions, with names and inputs that Anthropic defines.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference
 */
import type { BuiltInTool, FunctionTool } from '../../../domain/entities/Tool';
import type { FunctionCallItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { parseArguments } from '../shared/callArguments';
import type { NativeForm, NativeForms } from '../shared/nativeTools';
import { textOfOutput } from '../shared/outputText';
import { parseShellOutput, shellOutputText } from '../shared/shellOutput';
import { toComputerAction } from './computerActions';
import type { AnthropicModelFeatures } from './modelFeatures';

const shell: NativeForm = {
  offer: (tool) => versioned(tool, 'bash', 'bash_20250124'),
  readCall: (item) => {
    if (!isCallOf(item, 'bash')) return undefined;
    const { command, restart } = inputOf(item);
    if (restart === true) return called(item, { commands: [], restart });
    return typeof command === 'string' ? called(item, { commands: [command] }) : asWritten(item);
  },
  writeOutput: (output) => [
    { ...output, output: shellOutputText(parseShellOutput(textOfOutput(output), output.state === 'completed')) },
  ],
};

const memory = sameInput('memory', 'memory_20250818');
const textEditor = sameInput('str_replace_based_edit_tool', 'text_editor_20250728');

const browser: NativeForm = {
  offer: () => ({ type: TOOLSET, vendor: { anthropic: { type: 'browser_toolset_20260801' } } }),
  readCall: (item) => (isMemberOf(item, 'browser') ? called(item, { ...inputOf(item), action: item.name }) : undefined),
  writeOutput: (output) => [output],
};

const computer: NativeForm = {
  offer: (_tool, { display_width, display_height }) => ({
    type: 'computer_use',
    ...omitUndefined({ display_width, display_height }),
  }),
  readCall: (item) => {
    if (isMemberOf(item, 'computer')) return called(item, { actions: [toComputerAction(item.name, inputOf(item))] });
    if (!isCallOf(item, 'computer')) return undefined;
    const { action, ...input } = inputOf(item);
    return typeof action === 'string' ? called(item, { actions: [toComputerAction(action, input)] }) : asWritten(item);
  },
  writeOutput: (output) => [output],
};

/** The cast is safe: a tool in the vendor's own format is sent as it is, whatever its type. */
const TOOLSET = 'toolset' as BuiltInTool['type'];

/** A tool whose input is the function's. */
function sameInput(name: string, version: string): NativeForm {
  return {
    offer: (tool) => versioned(tool, name, version),
    readCall: (item) => (isCallOf(item, name) ? asWritten(item) : undefined),
    writeOutput: (output) => [output],
  };
}

export function anthropicForms({ computer: version, supportsClientTools }: AnthropicModelFeatures): NativeForms {
  if (!supportsClientTools) return {};
  return {
    shell,
    memory,
    text_editor: textEditor,
    ...(version === 'none' ? {} : { computer }),
    ...(version === 'computer_toolset_20260801' ? { browser } : {}),
  };
}

function versioned(tool: FunctionTool, name: string, type: string): FunctionTool {
  return { ...tool, name, vendor: { anthropic: { type } } };
}

function isCallOf(item: OutputItem, name: string): item is FunctionCallItem {
  return item.type === 'function_call' && item.name === name && toolsetOf(item) === undefined;
}

function isMemberOf(item: OutputItem, toolset: string): item is FunctionCallItem {
  return item.type === 'function_call' && toolsetOf(item) === toolset;
}

function toolsetOf({ vendor }: FunctionCallItem): unknown {
  return vendor?.anthropic?.toolset_name;
}

function inputOf(item: FunctionCallItem): JsonObject {
  const { value, malformed } = parseArguments(item);
  return malformed ? {} : value;
}

function called(
  { call_id }: FunctionCallItem,
  args: JsonObject,
): { readonly call_id: string; readonly arguments: string } {
  return { call_id, arguments: JSON.stringify(args) };
}

function asWritten({ call_id, arguments: text }: FunctionCallItem): {
  readonly call_id: string;
  readonly arguments: string;
} {
  return { call_id, arguments: text };
}
