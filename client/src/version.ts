/** The version of this package, for the header `User-Agent`. */
export const version = '1.0.0';
