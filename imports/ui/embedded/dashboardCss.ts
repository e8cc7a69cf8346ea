/**
 * The dashboard's style sheets as one text. The build of the npm package puts it here (`inlineStyles`); pages of this
 * repository have style sheets.
 */
export const DASHBOARD_CSS: string = '';
