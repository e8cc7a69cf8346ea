/** Thought signatures: opaque to the client, bound to the part that carries them. */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { createSignature } from '../../signatures';
import type { Part } from './geminiBody';

/**
 * A call's signature covers its name and arguments; a text's only proves the vendor, because texts are split and
 * joined on the way.
 */
export function createThoughtSignature(vendor: VendorName, part: Pick<Part, 'functionCall'>): string {
  return createSignature(vendor, signedContent(part));
}

/** Clients may send the same bytes as base64 or base64url. */
export function isOwnSignature(vendor: VendorName, part: Part): boolean {
  const signature = Buffer.from(part.thoughtSignature ?? '', 'base64').toString('base64');
  return (
    signature === createSignature(vendor, signedContent(part)) || BYPASS_SIGNATURES.has(part.thoughtSignature ?? '')
  );
}

/**
 * Accepted in place of the signature for a call that another model made,
 * https://ai.google.dev/gemini-api/docs/thought-signatures#faqs.
 */
const BYPASS_SIGNATURES: ReadonlySet<string> = new Set([
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]);

function signedContent({ functionCall }: Pick<Part, 'functionCall'>): unknown {
  return functionCall === undefined ? { text: true } : { name: functionCall.name, args: functionCall.args ?? {} };
}
