import type { VendorQuirks } from '../../domain/types/VendorTypes';
import { parseUrl } from '../../domain/util/parseUrl';
import type { Vendor } from './Vendor';

/** The quirks of a known host that serves a vendor's API. */
export function quirksAtHost({ quirksByHost }: Vendor, baseURL = ''): Partial<VendorQuirks> | undefined {
  return quirksByHost?.[parseUrl(baseURL)?.hostname ?? ''];
}
