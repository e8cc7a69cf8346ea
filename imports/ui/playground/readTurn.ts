/** Reads a turn from its run: the message, what was said before it, and the answer. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { Content, Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { RunDetails } from '../data/DashboardData';
import { parseItems } from '../data/reducers/parseItems';
import type { AttachmentPart, ConversationMessage } from '../conversations/ConversationMessage';
import { newAttachmentId, sizeOfDataUrl } from './attachments';
import type { Attachment } from './attachments';
import type { MessageInput } from './playgroundState';

export interface TurnInput {
  readonly message: MessageInput;
  /** The items before the message. */
  readonly before: readonly Item[];
}

export function readTurnInput({ run }: RunDetails): TurnInput {
  const input = parseItems(run.input);
  const index = input.findLastIndex((item) => item.type === 'message' && item.role === 'user');
  const item = input[index];
  if (item?.type !== 'message') return { message: { text: run.title, attachments: [] }, before: [] };
  return { message: toMessageInput(item.content), before: input.slice(0, index) };
}

function toMessageInput(content: readonly Content[]): MessageInput {
  return {
    text: content.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n'),
    attachments: content.flatMap((part): readonly Attachment[] => {
      switch (part.type) {
        case 'input_image':
          return toAttachments({ kind: 'image', ...optionalUrl(part.image_url) });
        case 'input_file':
          return toAttachments({
            kind: 'file',
            ...optionalUrl(part.file_url ?? part.file_data),
            ...omitUndefined({ filename: part.filename }),
          });
        default:
          return [];
      }
    }),
  };
}

function optionalUrl(url: string | undefined): { readonly url?: string } {
  return url === undefined ? {} : { url };
}

/** An image or a file of a run's record; none if the record refers to it by a vendor's id. */
export function toAttachments({
  kind,
  url,
  filename = nameOf(kind, url),
}: Pick<AttachmentPart, 'kind' | 'url' | 'filename'>): readonly Attachment[] {
  if (url === undefined) return [];
  return [{ id: newAttachmentId(), kind, name: filename, size: sizeOfDataUrl(url), dataUrl: url }];
}

/** Records have no names of images. */
function nameOf(kind: AttachmentPart['kind'], url = ''): string {
  const extension = /^data:image\/(png|jpeg|webp|gif)/.exec(url)?.[1];
  return extension === undefined ? kind : `${kind}.${extension}`;
}

/** The messages that come after the user's last one. */
export function answerOf(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
}

/** The text of an answer, without reasoning. */
export function textOfAnswer(messages: readonly ConversationMessage[]): string {
  return answerOf(messages)
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n\n');
}
