//===- Polynomials.h - coefficients, lowest first; by fit_math_polynomials.py ---===//

// clang-format off

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POLYNOMIALS_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POLYNOMIALS_H

namespace tilewright::devicemath {

template <class F> struct Polynomials;

template <> struct Polynomials<float> {
  // e^r = 1 + r + r^2 q(r), |r| <= ln(2) / 2; error 2^-28.3
  static constexpr float kExp[] = {
    0x1.fffffc0000000p-2f, 0x1.5554920000000p-3f, 0x1.5558f00000000p-5f, 0x1.1239d40000000p-7f,
    0x1.6a257e0000000p-10f};
  // 2^f = 1 + f q(f), |f| <= 1/2; error 2^-28.5
  static constexpr float kExp2[] = {
    0x1.62e4320000000p-1f, 0x1.ebfbe20000000p-3f, 0x1.c6ae720000000p-5f, 0x1.3b270a0000000p-7f,
    0x1.5f727e0000000p-10f, 0x1.470e7a0000000p-13f};
  // log(1 + f) = f + f^2 q(f), -1/3 <= f <= 1/3; error 2^-27.7
  static constexpr float kLog[] = {
    -0x1.0000000000000p-1f, 0x1.5555020000000p-2f, -0x1.fffe840000000p-3f, 0x1.99d1f40000000p-3f,
    -0x1.55a74e0000000p-3f, 0x1.1ebe500000000p-3f, -0x1.f25e1e0000000p-4f, 0x1.1ed1bc0000000p-3f,
    -0x1.0931ca0000000p-3f};
  // log((1 + s) / (1 - s)) = 2 s + 2/3 s^3 + s^5 q(s^2), |s| <= 0.1716; error 2^-36.8
  static constexpr float kLogOfQuotient[] = {
    0x1.999a000000000p-2f, 0x1.2452b60000000p-2f, 0x1.df97b40000000p-3f};
  // sin(r) = r + r^3 q(r^2), |r| <= pi/4; error 2^-28.0
  static constexpr float kSin[] = {
    -0x1.5555460000000p-3f, 0x1.11073c0000000p-7f, -0x1.9944460000000p-13f};
  // cos(r) = 1 - r^2 / 2 + r^4 q(r^2), |r| <= pi/4; error 2^-33.0
  static constexpr float kCos[] = {
    0x1.55554a0000000p-5f, -0x1.6c0c340000000p-10f, 0x1.99eb9c0000000p-16f};
  // tanh(x) = x + x^3 q(x^2), |x| <= 0.55; error 2^-29.8
  static constexpr float kTanh[] = {
    -0x1.55554a0000000p-2f, 0x1.110d260000000p-3f, -0x1.b928920000000p-5f, 0x1.593db80000000p-6f,
    -0x1.9b33e80000000p-8f};
  // sinh(x) = x + x^3 q(x^2), |x| <= 1; error 2^-34.2
  static constexpr float kSinh[] = {
    0x1.5555560000000p-3f, 0x1.1111340000000p-7f, 0x1.9ffe960000000p-13f, 0x1.7a153e0000000p-19f};
  // atan(x) = x + x^3 q(x^2), |x| <= 1; error 2^-28.5
  static constexpr float kAtan[] = {
    -0x1.55553e0000000p-2f, 0x1.9991fe0000000p-3f, -0x1.2421c00000000p-3f, 0x1.c09a6c0000000p-4f,
    -0x1.5835c20000000p-4f, 0x1.dacdc80000000p-5f, -0x1.fed8ce0000000p-6f, 0x1.65ae040000000p-7f,
    -0x1.d63d220000000p-10f};
  // erf(x) = x + x q(x^2), |x| <= 1; error 2^-29.6
  static constexpr float kErf[] = {
    0x1.06eba80000000p-3f, -0x1.81273e0000000p-2f, 0x1.ce2cf80000000p-4f, -0x1.b7f9120000000p-6f,
    0x1.5405d40000000p-8f, -0x1.a3f7fe0000000p-11f, 0x1.496ce80000000p-14f};
  // erfc(x) = exp(-q(x)), 1 <= x <= 4 (float), 6 (double); error 2^-29.9
  static constexpr float kErfc[] = {
    0x1.7332fa0000000p-12f, 0x1.20859e0000000p+0f, 0x1.46c5c40000000p-1f, 0x1.a608c80000000p-4f,
    -0x1.653ece0000000p-6f, 0x1.81462c0000000p-9f, -0x1.8522520000000p-13f};
};

template <> struct Polynomials<double> {
  // e^r = 1 + r + r^2 q(r), |r| <= ln(2) / 2; error 2^-57.9
  static constexpr double kExp[] = {
    0x1.000000000000ap-1, 0x1.55555555554fap-3, 0x1.555555555088fp-5, 0x1.1111111127baep-7,
    0x1.6c16c18425d41p-10, 0x1.a01a012a5a349p-13, 0x1.a0199a185e1dcp-16, 0x1.71df25696d0f5p-19,
    0x1.28ad675a36751p-22, 0x1.ad7f233c1c9eap-26};
  // 2^f = 1 + f q(f), |f| <= 1/2; error 2^-55.7
  static constexpr double kExp2[] = {
    0x1.62e42fefa39f3p-1, 0x1.ebfbdff82c598p-3, 0x1.c6b08d7048f33p-5, 0x1.3b2ab6fba1e1bp-7,
    0x1.5d87fe7bbb92ap-10, 0x1.43091309613b5p-13, 0x1.ffcbee3c90228p-17, 0x1.62bfd49e9b2cbp-20,
    0x1.b541648001e6ep-24, 0x1.e605f99a40e86p-28, 0x1.c06810bc9a986p-32};
  // log(1 + f) = f + f^2 q(f), -1/3 <= f <= 1/3; error 2^-59.4
  static constexpr double kLog[] = {
    -0x1.0000000000000p-1, 0x1.5555555555535p-2, -0x1.ffffffffffed1p-3, 0x1.99999999a0674p-3,
    -0x1.555555556822ap-3, 0x1.249249209388bp-3, -0x1.ffffffef7654ap-4, 0x1.c71c7418d3f25p-4,
    -0x1.99999d90422c4p-4, 0x1.745cb4836902bp-4, -0x1.5554c2893b48ap-4, 0x1.3b1dd04441ea9p-4,
    -0x1.249fcb911c2e7p-4, 0x1.10685a9dc3e23p-4, -0x1.fe62db826e167p-5, 0x1.efcee95039806p-5,
    -0x1.d6fcb8ca12c19p-5, 0x1.55da9821537dbp-5, -0x1.39cbff1e2a5e3p-5, 0x1.5c51fa2a38de2p-4,
    -0x1.55ef3a24d7e9dp-4};
  // log((1 + s) / (1 - s)) = 2 s + 2/3 s^3 + s^5 q(s^2), |s| <= 0.1716; error 2^-66.3
  static constexpr double kLogOfQuotient[] = {
    0x1.9999999999b2ep-2, 0x1.2492492458038p-2, 0x1.c71c722d29387p-3, 0x1.745ce9f76ba88p-3,
    0x1.3b1ee8943174ap-3, 0x1.0f8036ff252a2p-3, 0x1.0e3ffafcab5d2p-3};
  // sin(r) = r + r^3 q(r^2), |r| <= pi/4; error 2^-57.9
  static constexpr double kSin[] = {
    -0x1.5555555555548p-3, 0x1.111111110f7c8p-7, -0x1.a01a019bfcd10p-13, 0x1.71de3566ceb19p-19,
    -0x1.ae5e59bf356ebp-26, 0x1.5d8f93687e061p-33};
  // cos(r) = 1 - r^2 / 2 + r^4 q(r^2), |r| <= pi/4; error 2^-64.0
  static constexpr double kCos[] = {
    0x1.555555555554bp-5, -0x1.6c16c16c14f8dp-10, 0x1.a01a019c83d6ap-16, -0x1.27e4f7ea69fd2p-22,
    0x1.1ee9d77462e5cp-29, -0x1.8fa4770d58effp-37};
  // tanh(x) = x + x^3 q(x^2), |x| <= 0.55; error 2^-60.6
  static constexpr double kTanh[] = {
    -0x1.555555555554fp-2, 0x1.11111111107a0p-3, -0x1.ba1ba1b97d9a4p-5, 0x1.664f485974227p-6,
    -0x1.226e2f14e3fc9p-7, 0x1.d6d29ba65d3efp-9, -0x1.7d8fd469a54a8p-10, 0x1.3483b45752d96p-11,
    -0x1.e96ffe80b2234p-13, 0x1.5d74f77b1bd25p-14, -0x1.471284cf7f8e4p-16};
  // sinh(x) = x + x^3 q(x^2), |x| <= 1; error 2^-63.3
  static constexpr double kSinh[] = {
    0x1.5555555555556p-3, 0x1.11111111110a6p-7, 0x1.a01a01a028976p-13, 0x1.71de3a465cd52p-19,
    0x1.ae646719dcfd6p-26, 0x1.611a568eda17dp-33, 0x1.b4c73a868346cp-41};
  // atan(x) = x + x^3 q(x^2), |x| <= 1; error 2^-57.6
  static constexpr double kAtan[] = {
    -0x1.5555555555526p-2, 0x1.9999999995554p-3, -0x1.249249237e4c2p-3, 0x1.c71c717f9d556p-4,
    -0x1.745d11ab86c97p-4, 0x1.3b13667c74419p-4, -0x1.110e504fc2741p-4, 0x1.e1bb9d68799f7p-5,
    -0x1.ae5e4e1d97a68p-5, 0x1.82da64d704543p-5, -0x1.59a2e729fa3eap-5, 0x1.2c2c461338107p-5,
    -0x1.e9f3ce728d1b4p-6, 0x1.6835829e74e1ap-6, -0x1.c782bee2fb44dp-7, 0x1.d7a77a070e63bp-8,
    -0x1.7a2824c2f8d5fp-9, 0x1.b3e310665b46dp-11, -0x1.3f227835f79cap-13, 0x1.bbcee7bee45cfp-17};
  // erf(x) = x + x q(x^2), |x| <= 1; error 2^-56.9
  static constexpr double kErf[] = {
    0x1.06eba8214db68p-3, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d1cp-4, -0x1.b82ce311faa99p-6,
    0x1.565bccf92dd69p-8, -0x1.c02db03e38813p-11, 0x1.f9a2bab1bb184p-14, -0x1.f4ca4df04562bp-17,
    0x1.b97fd8a3435b7p-20, -0x1.5c07433527216p-23, 0x1.d71bcbee2ff47p-27, -0x1.abb06a4ae4665p-31};
  // erfc(x) = exp(-q(x)), 1 <= x <= 4 (float), 6 (double); error 2^-57.1
  static constexpr double kErfc[] = {
    0x1.1396800b0ee92p-21, 0x1.20dd1e2cdcd7ep+0, 0x1.45f635c2ebf1fp-1, 0x1.a4ab25c1a6ac2p-4,
    -0x1.37198ea0642bdp-6, -0x1.b1a54b2990e54p-12, 0x1.f70ba180fd908p-10, -0x1.954e3c8cc53f3p-11,
    0x1.1e65469b23dafp-13, 0x1.477976e34b499p-16, -0x1.7a03a8fe1052cp-16, 0x1.1fd7626fdcfa1p-17,
    -0x1.1bd46a994d786p-19, 0x1.8ccc481edcef3p-22, -0x1.8a8ad49fcd984p-25, 0x1.0b4de96720cf8p-28,
    -0x1.bc401ad25fa5cp-33, 0x1.5653ee1ef9d20p-38};
};

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POLYNOMIALS_H
