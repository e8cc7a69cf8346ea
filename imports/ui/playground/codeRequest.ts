/** A request of the playground as code: what the TypeScript and the curl command are written from. */
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import type { Attachment } from './attachments';
import type { RunSettings } from './toRequest';

export interface CodeMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export interface CodeRequest {
  /** The model's address on this server: `provider/model`, or a provider alone. */
  readonly address: string;
  /** The same for a program without this server's accounts: `vendor/model`, or a vendor alone. */
  readonly vendorAddress: string;
  readonly settings: Omit<RunSettings, 'tools'>;
  readonly tools: readonly ToolSummary[];
  /** At least one; the last one is the user's. */
  readonly messages: readonly CodeMessage[];
  /** Where the HTTP API of this server is. */
  readonly apiUrl: string;
}

/** The media type of an attachment, from its data URI. */
export function typeOfAttachment({ dataUrl = '' }: Attachment): string {
  return /^data:([^;,]+)/.exec(dataUrl)?.[1] ?? 'application/octet-stream';
}
