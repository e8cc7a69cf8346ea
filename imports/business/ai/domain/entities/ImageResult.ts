/** What a tool returns that has images to show. Models that see none get the value alone. */
import type { InputImage } from '../types/ResponsesAPITypes';

/** Survives a second copy of this module in the program. */
const BRAND = Symbol.for('bolide.ImageResult');

export class ImageResult {
  readonly [BRAND] = true;
  /** Serialized like any result. */
  readonly value: unknown;
  /** With data URIs of PNG, JPEG, GIF or WebP: 8 images and 4 MiB of text at most. Others are left out. */
  readonly images: readonly InputImage[];

  constructor(value: unknown, images: readonly InputImage[]) {
    this.value = value;
    this.images = images;
  }
}

export function isImageResult(value: unknown): value is ImageResult {
  return typeof value === 'object' && value !== null && BRAND in value;
}
