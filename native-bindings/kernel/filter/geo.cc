#include "geo.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gannet {
namespace {

constexpr double kRadiansPerDegree = std::numbers::pi / 180;
// The box may be slightly too large, but not too small: the distance decides.
constexpr double kSlackDegrees = 1e-7;

// Points are stored in steps of 1e-7 degrees (columns/column.h).
constexpr double kStepsPerDegree = 1e7;
constexpr double kStepsPerTurn = 360 * kStepsPerDegree;

double Steps(double degrees) { return std::round(degrees * kStepsPerDegree); }

// Returns how far east `to` is of `from`, less than a turn. Both are whole steps within a turn either way.
double StepsEast(double from, double to) { return std::fmod(to - from + 2 * kStepsPerTurn, kStepsPerTurn); }

}  // namespace

double DistanceMetres(const GeoPoint& from, const GeoPoint& to) {
  const double latitude_sine = std::sin((to.latitude - from.latitude) * kRadiansPerDegree / 2);
  const double longitude_sine = std::sin((to.longitude - from.longitude) * kRadiansPerDegree / 2);
  const double cosines = std::cos(from.latitude * kRadiansPerDegree) * std::cos(to.latitude * kRadiansPerDegree);
  const double half_chord = latitude_sine * latitude_sine + cosines * longitude_sine * longitude_sine;
  return 2 * kEarthRadiusMetres * std::asin(std::sqrt(std::clamp(half_chord, 0.0, 1.0)));
}

GeoCircle::GeoCircle(const GeoPoint& centre, double metres) : centre_(centre), metres_(metres) {
  const double angle = metres / kEarthRadiusMetres;
  latitude_reach_ = angle / kRadiansPerDegree + kSlackDegrees;
  if (std::abs(centre.latitude) + latitude_reach_ >= 90) {
    longitude_reach_ = 180;
  } else {
    // The meridians that touch the circle; they touch it nearer to the pole than its centre is.
    const double sine = std::sin(angle) / std::cos(centre.latitude * kRadiansPerDegree);
    longitude_reach_ = sine >= 1 ? 180 : std::asin(sine) / kRadiansPerDegree + kSlackDegrees;
  }
}

bool GeoCircle::Contains(const GeoPoint& point) const {
  if (!(std::abs(point.latitude - centre_.latitude) <= latitude_reach_)) return false;
  double apart = std::fmod(std::abs(point.longitude - centre_.longitude), 360);
  if (apart > 180) apart = 360 - apart;
  if (apart > longitude_reach_ && longitude_reach_ < 180) return false;
  return DistanceMetres(centre_, point) <= metres_;
}

GeoBox::GeoBox(const GeoPoint& south_west, const GeoPoint& north_east)
    : south_(Steps(south_west.latitude)), north_(Steps(north_east.latitude)), west_(Steps(south_west.longitude)) {
  const double east = Steps(north_east.longitude);
  width_ = east - west_ >= kStepsPerTurn ? kStepsPerTurn : StepsEast(west_, east);
}

bool GeoBox::Contains(const GeoPoint& point) const {
  const double latitude = Steps(point.latitude);
  return latitude >= south_ && latitude <= north_ && StepsEast(west_, Steps(point.longitude)) <= width_;
}

}  // namespace gannet
