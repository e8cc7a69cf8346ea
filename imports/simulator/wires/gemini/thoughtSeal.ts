/** Thought signatures: opaque to the client, bound to the part that carries them. */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { sealOf } from '../../seals';
import type { Part } from './geminiBody';

/**
 * A call's signature seals its name and arguments; a text's only its maker, because texts are cut and joined on the
 * way.
 */
export function thoughtSignature(vendor: VendorName, part: Pick<Part, 'functionCall'>): string {
  return sealOf(vendor, essence(part));
}

/** Recordings and clients write the same bytes as base64 or base64url. */
export function isOwnSignature(vendor: VendorName, part: Part): boolean {
  const given = Buffer.from(part.thoughtSignature ?? '', 'base64').toString('base64');
  return given === sealOf(vendor, essence(part)) || STAND_INS.has(part.thoughtSignature ?? '');
}

/**
 * Accepted instead of a signature that another model made,
 * https://ai.google.dev/gemini-api/docs/thought-signatures#faqs.
 */
const STAND_INS: ReadonlySet<string> = new Set([
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]);

function essence({ functionCall }: Pick<Part, 'functionCall'>): unknown {
  return functionCall === undefined ? { text: true } : { name: functionCall.name, args: functionCall.args ?? {} };
}
