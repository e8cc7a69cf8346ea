/** Which of a result's images are kept: what a vendor refuses would end the run, now and whenever it goes on. */
import type { InputImage } from '../types/ResponsesAPITypes';

const MAX_IMAGES = 8;
/** Characters of all together. */
const MAX_LENGTH = 4 * 1024 * 1024;
const DATA_URI = /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

/** The first bytes of a file, and bytes at another place of it. */
const SIGNATURES: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
  png: [[0, '\x89PNG\r\n\x1a\n']],
  jpeg: [[0, '\xff\xd8\xff']],
  gif: [[0, 'GIF8']],
  webp: [
    [0, 'RIFF'],
    [8, 'WEBP'],
  ],
};

export function shownImages(images: readonly InputImage[]): readonly InputImage[] {
  let length = 0;
  return images.slice(0, MAX_IMAGES).filter(({ image_url = '' }) => {
    if (length + image_url.length > MAX_LENGTH || !isImage(image_url)) return false;
    length += image_url.length;
    return true;
  });
}

/** Whether the text is a data URI of an image that has the beginning of its type. */
export function isImage(dataUri: string): boolean {
  const [, type = '', data = ''] = DATA_URI.exec(dataUri) ?? [];
  if (data === '' || data.length % 4 !== 0) return false;
  const bytes = atob(data.slice(0, 32));
  const signature = SIGNATURES[type];
  return signature?.every(([at, text]) => bytes.startsWith(text, at)) === true;
}
