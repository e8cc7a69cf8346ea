/**
 * Converts items that are one chat message each: user, system and developer messages, and tool results.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages
 */
import { toCallId } from '../../shared/callIds';
import { toChatContent, toChatPart } from '../contentParts';
import { cacheByItem, isSameVendor } from '../../shared/conversionCache';
import { vendorFieldsOf, isFromVendor, messageFieldsOf, ownFieldsOf } from '../vendorFields';
import type { WireContext } from '../../Wire';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import type {
  FunctionCallOutputItem,
  HostedItem,
  InputContent,
  MessageItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, VendorQuirks } from '../../../../domain/types/VendorTypes';

export interface ToolMessage {
  readonly message: JsonObject;
  /** Parts that the vendor does not accept in a tool message. */
  readonly attachments: readonly JsonObject[];
}

export const toPlainMessage = cacheByItem((item: MessageItem, context, path): JsonObject => {
  const isUser = item.role === 'user';
  if (!isUser && item.content.some((part) => part.type === 'input_image' || part.type === 'input_file')) {
    const at = path();
    throw new UnsupportedFeatureError(
      `Cannot send "${at}": in chat completions, system and developer messages can contain only text.`,
      { path: at },
    );
  }
  const fields = passthroughFieldsOf(item, context);
  return {
    // Every vendor supports `system`; `developer` is newer.
    role: item.role === 'developer' ? context.quirks.systemRole : item.role,
    ...fields,
    ...(item.content.length === 0 && 'content' in fields
      ? {}
      : { content: toChatContent(item.content, context, () => `${path()}.content`) }),
  };
}, isSameVendor);

export const toToolMessage = cacheByItem((item: FunctionCallOutputItem | HostedItem, context, path): ToolMessage => {
  const call = callIdFor(item.call_id, context.quirks);
  const output = outputOf(item);
  const { content, attachments } =
    typeof output === 'string' ? { content: output, attachments: [] } : splitToolOutput(output, call, context, path());
  const fields = passthroughFieldsOf(item, context);
  const whose =
    vendorFieldsOf(item).legacy === true ? { role: 'function', name: item.name } : { role: 'tool', tool_call_id: call };
  return {
    message: { ...whose, ...fields, ...(content === '' && 'content' in fields ? {} : { content }) },
    attachments,
  };
}, isSameVendor);

/** A call's id in a form that the vendor accepts; deterministic, so that the call and its result stay paired. */
export function callIdFor(id: unknown, quirks: VendorQuirks): string {
  const { maxCallIdLength } = quirks;
  const text = typeof id === 'string' ? id : '';
  return maxCallIdLength === undefined ? text : toCallId(text, { pattern: /^/, maxLength: maxCallIdLength });
}

function passthroughFieldsOf(
  item: MessageItem | FunctionCallOutputItem | HostedItem,
  { vendor }: WireContext,
): JsonObject {
  const vendorFields = vendorFieldsOf(item);
  return isFromVendor(vendorFields, vendor) ? { ...ownFieldsOf(vendorFields), ...messageFieldsOf(item) } : {};
}

function outputOf(item: FunctionCallOutputItem | HostedItem): string | readonly InputContent[] {
  if (item.type === 'function_call_output') return item.output;
  return typeof item.output === 'string' ? item.output : JSON.stringify(item.output ?? '');
}

/** Tool messages are text. Everything else follows in a user message, after all results of the turn. */
function splitToolOutput(
  output: readonly InputContent[],
  call: string,
  context: WireContext,
  path: string,
): { content: string | JsonObject[]; attachments: JsonObject[] } {
  const isText = (part: InputContent): boolean => part.type === 'input_text';
  const fits = (part: InputContent): boolean =>
    isText(part) || (part.type === 'input_image' && context.quirks.imagesInToolOutput === true);
  const at = `${path}.output`;
  if (output.every(fits)) return { content: toChatContent(output, context, () => at), attachments: [] };
  const parts = output.map((part, index) => toChatPart(part, context, `${at}[${index}]`));
  const others = parts.filter((_, index) => output[index]?.type !== 'input_text');
  const text = output.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
  const note = `[${others.length === 1 ? 'An attachment follows' : `${others.length} attachments follow`} in the next user message.]`;
  return {
    content: [...text, note].join('\n'),
    attachments: [{ type: 'text', text: `Attached to the result of the tool call ${call}:` }, ...others],
  };
}
