/** The parts of a message of the user, as `useChat` shows them. */
import type { InputContent, MessageItem } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { UserPart } from './UIMessages';

export function userParts({ content }: MessageItem): UserPart[] {
  return content.flatMap(userPart);
}

function userPart(part: MessageItem['content'][number]): readonly UserPart[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return [{ type: 'text', text: part.text }];
    case 'input_image':
    case 'input_file': {
      const { url, mediaType } = fileOf(part);
      if (url === undefined) return [];
      const filename = part.type === 'input_file' && part.filename !== undefined ? { filename: part.filename } : {};
      return [{ type: 'file', mediaType, url, ...filename }];
    }
    case 'refusal':
      return [];
  }
}

function fileOf(part: Exclude<InputContent, { readonly type: 'input_text' }>): {
  readonly url: string | undefined;
  readonly mediaType: string;
} {
  const url = part.type === 'input_image' ? part.image_url : (part.file_url ?? part.file_data);
  const inDataUrl = /^data:([^;,]+)/.exec(url ?? '')?.[1];
  return { url, mediaType: inDataUrl ?? (part.type === 'input_image' ? 'image' : 'application/octet-stream') };
}
