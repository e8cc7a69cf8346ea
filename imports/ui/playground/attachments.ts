/** Images and files of a message: read from the computer, limited in size, and sent as data URIs. */

export interface Attachment {
  readonly id: string;
  readonly kind: 'image' | 'file';
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Absent after a reload of the page, for files too large to be stored there. */
  readonly dataUrl?: string;
}

/** Bytes of all attachments of a message. The server takes 7 MB of JSON, and base64 adds a third. */
export const MAX_ATTACHED_BYTES = 5_000_000;
export const MAX_ATTACHMENTS = 16;

/** Formats that every browser shows and that vendors accept as images. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

export interface ReadFiles {
  readonly attachments: readonly Attachment[];
  /** Why some were not added; one sentence each. */
  readonly problems: readonly string[];
}

/** @param before what the message already has, which counts towards the limits */
export async function readFiles(files: readonly File[], before: readonly Attachment[]): Promise<ReadFiles> {
  const attachments: Attachment[] = [];
  const problems: string[] = [];
  let total = before.reduce((sum, { size }) => sum + size, 0);
  for (const file of files) {
    const name = file.name === '' ? 'pasted image' : file.name;
    if (before.length + attachments.length >= MAX_ATTACHMENTS) {
      problems.push(`A message has at most ${MAX_ATTACHMENTS} attachments; “${name}” was not added.`);
    } else if (total + file.size > MAX_ATTACHED_BYTES) {
      problems.push(
        `“${name}” has ${formatBytes(file.size)}; the attachments of a message may have ${formatBytes(MAX_ATTACHED_BYTES)} in all.`,
      );
    } else if (file.size === 0) {
      problems.push(`“${name}” is empty.`);
    } else {
      try {
        const dataUrl = await readDataUrl(file);
        total += file.size;
        const kind = IMAGE_TYPES.has(file.type) ? 'image' : 'file';
        attachments.push({ id: newAttachmentId(), kind, name, size: file.size, dataUrl });
      } catch {
        problems.push(`“${name}” could not be read.`);
      }
    }
  }
  return { attachments, problems };
}

/** 340 bytes, 12 KB, 4.8 MB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The number of bytes that a data URI encodes; 0 for other URLs. */
export function sizeOfDataUrl(url: string): number {
  const comma = url.indexOf(',');
  if (!url.startsWith('data:') || comma === -1) return 0;
  const padding = url.endsWith('==') ? 2 : url.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor(((url.length - comma - 1) * 3) / 4) - padding);
}

/** Whether a page may show the URL as an image: content of the message itself, nothing that would be fetched. */
export function isShowableImage(url: string | undefined): url is string {
  return url !== undefined && /^data:image\/(?:png|jpeg|webp|gif);base64,/.test(url);
}

let attachmentCount = 0;

/** Unique within the page. */
export function newAttachmentId(): string {
  attachmentCount += 1;
  return `attachment-${attachmentCount}-${Math.random().toString(36).slice(2, 8)}`;
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    // `readAsDataURL` results in a string.
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read.'));
    reader.readAsDataURL(file);
  });
}
