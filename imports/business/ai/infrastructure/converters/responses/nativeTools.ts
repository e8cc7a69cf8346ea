/**
 * The tools of OpenAI's that the client executes, and MCP approvals, as forms of functions.
 * https://developers.openai.com/api/docs/guides/tools-shell, …/tools-apply-patch, …/tools-computer-use,
 * …/tools-connectors-mcp#approvals
 */
import type { BuiltInTool, Tool } from '../../../domain/entities/Tool';
import type { NativeToolType } from '../../../domain/types/NativeTool';
import type {
  FunctionCallOutputItem,
  HostedItem,
  InputImage,
  InputItem,
  OutputItem,
} from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, VendorQuirks } from '../../../domain/types/VendorTypes';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { customForms } from '../shared/customForms';
import { parseShellOutput } from '../shared/shellOutput';
import { textOfOutput } from '../shared/outputText';
import type { NativeForm, NativeForms } from '../shared/nativeTools';

const shell: NativeForm = {
  offer: () => ofType({ type: 'shell', environment: { type: 'local' } }),
  readCall: (item) => {
    if (item.type === 'shell_call') {
      const { commands, timeout_ms, max_output_length } = fieldsOf(item.action);
      return called(item, {
        commands,
        timeout_ms: timeout_ms ?? undefined,
        max_output_length: max_output_length ?? undefined,
      });
    }
    // The first version of the tool: one command, as a list of its words.
    if (item.type !== 'local_shell_call') return undefined;
    const { command, timeout_ms, working_directory } = fieldsOf(item.action);
    return called(item, {
      commands: [isList(command) ? command.map(String).map(quoted).join(' ') : ''],
      timeout_ms: timeout_ms ?? undefined,
      working_directory: working_directory ?? undefined,
    });
  },
  writeOutput: (output, call) => {
    if (call?.type === 'local_shell_call')
      return [item({ type: 'local_shell_call_output', id: call.id ?? output.call_id, output: textOfOutput(output) })];
    const { max_output_length } = fieldsOf(fieldsOf(call).action);
    return [
      item({
        type: 'shell_call_output',
        call_id: output.call_id,
        output: parseShellOutput(textOfOutput(output), output.state === 'completed'),
        ...(typeof max_output_length === 'number' ? { max_output_length } : {}),
        ...callerOf(call),
      }),
    ];
  },
};

/** A word of a command as a POSIX shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const applyPatch: NativeForm = {
  offer: () => ofType({ type: 'apply_patch' }),
  readCall: (item) => (item.type === 'apply_patch_call' ? called(item, fieldsOf(item.operation)) : undefined),
  writeOutput: (output, call) => [
    item({
      type: 'apply_patch_call_output',
      call_id: output.call_id,
      status: output.state === 'completed' ? 'completed' : 'failed',
      output: textOfOutput(output),
      ...callerOf(call),
    }),
  ],
};

const computer: NativeForm = {
  offer: (_tool, { display_width, display_height, environment }) =>
    ofType({ type: 'computer_use', ...omitUndefined({ display_width, display_height, environment }) }),
  readCall: (item) => {
    if (item.type !== 'computer_call') return undefined;
    const { action, actions, pending_safety_checks: checks } = item;
    const all = isList(actions) ? actions : isObject(action) ? [action] : [];
    return called(item, {
      actions: all,
      ...(isList(checks) && checks.length > 0 ? { pending_safety_checks: checks } : {}),
    });
  },
  writeOutput: (output, call) => {
    const text = textOfOutput(output);
    const screenshot = imageOf(output);
    const { pending_safety_checks: checks } = fieldsOf(call);
    const answer = item({
      type: 'computer_call_output',
      call_id: output.call_id,
      output: {
        type: 'computer_screenshot',
        ...(screenshot?.file_id === undefined
          ? { image_url: screenshot?.image_url ?? BLANK_IMAGE }
          : { file_id: screenshot.file_id }),
      },
      // A call with checks runs once a person has approved it.
      ...(output.state === 'completed' && isList(checks) && checks.length > 0
        ? { acknowledged_safety_checks: checks }
        : {}),
    });
    // An output has no text of its own, and what failed leaves no screenshot.
    if (screenshot !== undefined && output.state === 'completed') return [answer];
    return [answer, { type: 'message', role: 'user', content: [{ type: 'input_text', text: `[Computer] ${text}` }] }];
  },
};

/** A transparent pixel. */
const BLANK_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

function imageOf({ output }: FunctionCallOutputItem): InputImage | undefined {
  return typeof output === 'string' ? undefined : output.find((part) => part.type === 'input_image');
}

const mcpApproval: NativeForm = {
  offer: () => undefined,
  readCall: (item) => {
    if (item.type !== 'mcp_approval_request' || typeof item.id !== 'string') return undefined;
    const { server_label, name, arguments: args } = item;
    return { call_id: item.id, arguments: JSON.stringify({ server_label, name, arguments: args }) };
  },
  writeOutput: (output) => {
    const isApproved = output.state === 'completed';
    return [
      item({
        type: 'mcp_approval_response',
        approval_request_id: output.call_id,
        approve: isApproved,
        ...(isApproved ? {} : { reason: textOfOutput(output) }),
      }),
    ];
  },
};

const FORMS: NativeForms = { shell, apply_patch: applyPatch, computer, mcp_approval: mcpApproval };

export function responsesForms(model: string, quirks: VendorQuirks): NativeForms {
  const { nativeTools = {} } = quirks;
  const isKnown = (type: string): boolean => {
    const pattern = nativeTools[type as NativeToolType];
    return pattern !== undefined && new RegExp(pattern, 'i').test(model);
  };
  return { ...Object.fromEntries(Object.entries(FORMS).filter(([type]) => isKnown(type))), ...customForms(quirks) };
}

function called(
  item: HostedItem,
  args: JsonObject,
): { readonly call_id: string; readonly arguments: string } | undefined {
  const { call_id } = item;
  return typeof call_id === 'string' ? { call_id, arguments: JSON.stringify(args) } : undefined;
}

/** A program's calls are answered to the program. */
function callerOf(call: OutputItem | undefined): JsonObject {
  const { caller } = fieldsOf(call);
  return isObject(caller) ? { caller } : {};
}

/** The cast is safe: tools of this wire other than functions are open objects with a type. */
function ofType(tool: JsonObject & { readonly type: string }): Tool {
  return tool as unknown as BuiltInTool;
}

function item(fields: JsonObject & { readonly type: HostedItem['type'] }): InputItem {
  return fields;
}
